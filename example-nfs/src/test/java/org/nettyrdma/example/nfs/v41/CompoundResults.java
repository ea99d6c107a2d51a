package org.nettyrdma.example.nfs.v41;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import org.nettyrdma.codec.oncrpc.Xdr;

/** The results of a COMPOUND, read in the order of its operations. */
final class CompoundResults implements AutoCloseable {

    private final ByteBuf in;

    CompoundResults(ByteBuf in) {
        this.in = in;
        Xdr.readInt(in, "status"); // that of the last operation, which says it again
        Xdr.readOpaque(in, Nfs41.MAX_TAG_BYTES, "tag");
        Xdr.readInt(in, "resarray");
    }

    /** Reads the next operation's status and returns where its results are. */
    ByteBuf operation(int code) throws IOException {
        int answered = Xdr.readInt(in, "resop");
        int status = Xdr.readInt(in, "status");
        if (answered != code || status != Nfs41.NFS4_OK) {
            throw new IOException("operation " + code + ": status " + status + " of operation " + answered);
        }
        return in;
    }

    @Override
    public void close() {
        in.release();
    }
}
