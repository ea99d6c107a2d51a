package org.nettyrdma.example.nfs.protocol;

import io.netty.buffer.ByteBuf;
import org.nettyrdma.codec.oncrpc.Xdr;

/**
 * The arguments of SETATTR (RFC 1813, section 3.3.2).
 *
 * @param file       the file
 * @param attributes the changes
 * @param guard      the change time that the file must have, or {@code null} for any
 */
public record SetAttributesArguments(FileHandle file, Sattr attributes, NfsTime guard) implements WireForm {

    /**
     * Reads the arguments.
     *
     * @param in the arguments of the call
     * @return the arguments
     */
    public static SetAttributesArguments read(ByteBuf in) {
        return new SetAttributesArguments(FileHandle.read(in),
                Sattr.read(in),
                Xdr.readBoolean(in, "sattrguard3.check") ? NfsTime.read(in) : null);
    }

    @Override
    public void write(ByteBuf out) {
        file.write(out);
        attributes.write(out);
        WireForm.writeOptional(guard, out);
    }
}
