package org.nettyrdma.example.nfs.protocol;

import io.netty.buffer.ByteBuf;

/**
 * A name in a directory: {@code diropargs3} (RFC 1813, section 2.6); all arguments of LOOKUP, REMOVE and RMDIR.
 *
 * @param directory the directory
 * @param name      the name in it
 */
public record DirectoryOperationArguments(FileHandle directory, String name) implements WireForm {

    /**
     * Reads the arguments. The name may be of any length, as it is the server's to refuse one that is too long
     * ({@code NFS3ERR_NAMETOOLONG}).
     *
     * @param in the arguments of the call
     * @return the arguments
     */
    public static DirectoryOperationArguments read(ByteBuf in) {
        return new DirectoryOperationArguments(FileHandle.read(in), NameText.read(in, in.readableBytes(), "filename3"));
    }

    @Override
    public void write(ByteBuf out) {
        directory.write(out);
        NameText.write(out, name);
    }
}
