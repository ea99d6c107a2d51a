package org.nettyrdma.example.nfs.protocol;

import io.netty.buffer.ByteBuf;
import org.nettyrdma.codec.oncrpc.Xdr;

/**
 * Weak cache consistency: a file before and after a change, {@code wcc_data} (RFC 1813, section 2.6).
 *
 * @param before what it was right before the change, or {@code null} if not known
 * @param after  its attributes right after the change, or {@code null} if not known
 */
public record WccData(WccAttr before, Fattr after) implements WireForm {

    /** Neither before nor after. */
    public static final WccData NONE = new WccData(null, null);

    /**
     * Reads the data.
     *
     * @param in the message
     * @return the data
     */
    public static WccData read(ByteBuf in) {
        WccAttr before = Xdr.readBoolean(in, "pre_op_attr.attributes_follow") ? WccAttr.read(in) : null;
        return new WccData(before, Fattr.readOptional(in));
    }

    @Override
    public void write(ByteBuf out) {
        WireForm.writeOptional(before, out);
        WireForm.writeOptional(after, out);
    }
}
