package org.nettyrdma.example.nfs.v41;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.nettyrdma.codec.oncrpc.Xdr;

/** The arguments of a COMPOUND, operation by operation. */
final class Compound {

    private final ByteBuf out = Unpooled.buffer();
    private final int countIndex;
    private int operations;

    Compound() {
        Xdr.writeString(out, "");
        Xdr.writeInt(out, Nfs41.MINOR_VERSION);
        countIndex = out.writerIndex();
        Xdr.writeInt(out, 0);
    }

    /** Begins an operation and returns where to write its arguments. */
    ByteBuf operation(int code) {
        out.setInt(countIndex, ++operations);
        Xdr.writeInt(out, code);
        return out;
    }

    ByteBuf arguments() {
        return out;
    }
}
