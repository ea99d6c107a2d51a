package org.nettyrdma.example.nfs.protocol;

import io.netty.buffer.ByteBuf;

/**
 * The arguments of LINK (RFC 1813, section 3.3.15).
 *
 * @param file the file to give one more name
 * @param link the new name
 */
public record LinkArguments(FileHandle file, DirectoryOperationArguments link) implements WireForm {

    /**
     * Reads the arguments.
     *
     * @param in the arguments of the call
     * @return the arguments
     */
    public static LinkArguments read(ByteBuf in) {
        return new LinkArguments(FileHandle.read(in), DirectoryOperationArguments.read(in));
    }

    @Override
    public void write(ByteBuf out) {
        file.write(out);
        link.write(out);
    }
}
