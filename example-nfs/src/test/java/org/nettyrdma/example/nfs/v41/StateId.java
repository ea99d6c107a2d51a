package org.nettyrdma.example.nfs.v41;

import io.netty.buffer.ByteBuf;
import org.nettyrdma.codec.oncrpc.Xdr;

/** Names an open file or a delegation. */
record StateId(int sequence, byte[] other) {

    private static final int OTHER_BYTES = 12;

    static StateId read(ByteBuf in) {
        return new StateId(Xdr.readInt(in, "stateid.seqid"), Xdr.readFixedOpaque(in, OTHER_BYTES, "stateid.other"));
    }

    void write(ByteBuf out) {
        Xdr.writeInt(out, sequence);
        Xdr.writeFixedOpaque(out, other);
    }
}
