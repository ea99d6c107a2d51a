package org.nettyrdma.example.nfs.protocol;

import io.netty.buffer.ByteBuf;
import org.nettyrdma.codec.oncrpc.Xdr;

/**
 * What shows whether a file changed: {@code wcc_attr} (RFC 1813, section 2.6).
 *
 * @param size       its size in bytes
 * @param modifyTime when its content last changed
 * @param changeTime when its content or an attribute last changed
 */
public record WccAttr(long size, NfsTime modifyTime, NfsTime changeTime) implements WireForm {

    /**
     * Reads the three attributes.
     *
     * @param in the message
     * @return the attributes
     */
    public static WccAttr read(ByteBuf in) {
        return new WccAttr(Xdr.readHyper(in, "wcc_attr.size"), NfsTime.read(in), NfsTime.read(in));
    }

    @Override
    public void write(ByteBuf out) {
        out.writeLong(size);
        modifyTime.write(out);
        changeTime.write(out);
    }
}
