package org.nettyrdma.example.nfs.protocol;

import io.netty.buffer.ByteBuf;

/**
 * The arguments of RENAME (RFC 1813, section 3.3.14).
 *
 * @param from the old name
 * @param to   the new name
 */
public record RenameArguments(DirectoryOperationArguments from, DirectoryOperationArguments to) implements WireForm {

    /**
     * Reads the arguments.
     *
     * @param in the arguments of the call
     * @return the arguments
     */
    public static RenameArguments read(ByteBuf in) {
        return new RenameArguments(DirectoryOperationArguments.read(in), DirectoryOperationArguments.read(in));
    }

    @Override
    public void write(ByteBuf out) {
        from.write(out);
        to.write(out);
    }
}
