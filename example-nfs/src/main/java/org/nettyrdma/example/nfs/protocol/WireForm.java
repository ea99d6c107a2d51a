package org.nettyrdma.example.nfs.protocol;

import io.netty.buffer.ByteBuf;
import org.nettyrdma.codec.oncrpc.Xdr;

/** A value that has a form on the wire: XDR, as RFC 1813 lays it out. */
public interface WireForm {

    /**
     * Writes the value.
     *
     * @param out the message; the value is appended
     */
    void write(ByteBuf out);

    /**
     * Writes a value that may be absent: {@code post_op_attr}, {@code post_op_fh3}, {@code pre_op_attr} and {@code sattrguard3}.
     *
     * @param value the value or {@code null}
     * @param out   the message
     */
    static void writeOptional(WireForm value, ByteBuf out) {
        Xdr.writeBoolean(out, value != null);
        if (value != null) {
            value.write(out);
        }
    }
}
