package org.nettyrdma.example.nfs.protocol;

import io.netty.buffer.ByteBuf;
import org.nettyrdma.codec.oncrpc.Xdr;

/**
 * The arguments of ACCESS (RFC 1813, section 3.3.4).
 *
 * @param file   the file
 * @param access what the caller asks for, a set of {@link AccessBits}
 */
public record AccessArguments(FileHandle file, int access) implements WireForm {

    /**
     * Reads the arguments.
     *
     * @param in the arguments of the call
     * @return the arguments
     */
    public static AccessArguments read(ByteBuf in) {
        return new AccessArguments(FileHandle.read(in), Xdr.readInt(in, "ACCESS3args.access"));
    }

    @Override
    public void write(ByteBuf out) {
        file.write(out);
        out.writeInt(access);
    }
}
