package org.nettyrdma.example.nfs.protocol;

import io.netty.buffer.ByteBuf;
import org.nettyrdma.codec.oncrpc.Xdr;

/**
 * The number of a device: {@code specdata3} (RFC 1813, section 2.6).
 *
 * @param major the driver, an unsigned 32-bit number
 * @param minor the device of that driver, an unsigned 32-bit number
 */
public record DeviceNumber(int major, int minor) implements WireForm {

    /** The number of what is no device. */
    public static final DeviceNumber NONE = new DeviceNumber(0, 0);

    /**
     * Reads a device number.
     *
     * @param in the message
     * @return the number
     */
    public static DeviceNumber read(ByteBuf in) {
        return new DeviceNumber(Xdr.readInt(in, "specdata3.specdata1"), Xdr.readInt(in, "specdata3.specdata2"));
    }

    @Override
    public void write(ByteBuf out) {
        out.writeInt(major);
        out.writeInt(minor);
    }
}
