package org.nettyrdma.example.nfs.protocol;

import io.netty.buffer.ByteBuf;

/**
 * The arguments of SYMLINK (RFC 1813, section 3.3.10).
 *
 * @param where      directory and name of the new link
 * @param attributes attributes of the new file
 * @param target     what the link says; the server never follows it
 */
public record SymbolicLinkArguments(DirectoryOperationArguments where, Sattr attributes, String target) implements WireForm {

    /**
     * Reads the arguments. Name and target may be of any length, as it is the server's to refuse those that are too long.
     *
     * @param in the arguments of the call
     * @return the arguments
     */
    public static SymbolicLinkArguments read(ByteBuf in) {
        return new SymbolicLinkArguments(DirectoryOperationArguments.read(in),
                Sattr.read(in),
                NameText.read(in, in.readableBytes(), "nfspath3"));
    }

    @Override
    public void write(ByteBuf out) {
        where.write(out);
        attributes.write(out);
        NameText.write(out, target);
    }
}
