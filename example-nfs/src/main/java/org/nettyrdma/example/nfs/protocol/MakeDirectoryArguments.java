package org.nettyrdma.example.nfs.protocol;

import io.netty.buffer.ByteBuf;

/**
 * The arguments of MKDIR (RFC 1813, section 3.3.9).
 *
 * @param where      directory and name of the new directory
 * @param attributes attributes of the new file
 */
public record MakeDirectoryArguments(DirectoryOperationArguments where, Sattr attributes) implements WireForm {

    /**
     * Reads the arguments.
     *
     * @param in the arguments of the call
     * @return the arguments
     */
    public static MakeDirectoryArguments read(ByteBuf in) {
        return new MakeDirectoryArguments(DirectoryOperationArguments.read(in), Sattr.read(in));
    }

    @Override
    public void write(ByteBuf out) {
        where.write(out);
        attributes.write(out);
    }
}
