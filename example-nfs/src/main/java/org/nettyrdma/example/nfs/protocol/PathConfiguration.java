package org.nettyrdma.example.nfs.protocol;

import io.netty.buffer.ByteBuf;
import org.nettyrdma.codec.oncrpc.Xdr;

/**
 * The limits of names and links: the end of a successful PATHCONF (RFC 1813, section 3.3.20).
 *
 * @param maxLinks            most names of one file
 * @param maxNameBytes        longest name in bytes
 * @param noTruncation        whether a longer name is an error and not cut
 * @param ownershipRestricted whether only a privileged caller can give a file away
 * @param caseInsensitive     whether names that differ in case only are the same
 * @param casePreserving      whether the case of a name is kept
 */
public record PathConfiguration(long maxLinks, long maxNameBytes, boolean noTruncation, boolean ownershipRestricted,
                                boolean caseInsensitive, boolean casePreserving) implements WireForm {

    /**
     * Reads the result from behind the post-operation attributes on.
     *
     * @param in the result
     * @return the result
     */
    public static PathConfiguration read(ByteBuf in) {
        return new PathConfiguration(Xdr.readUnsignedInt(in, "PATHCONF3resok.linkmax"),
                Xdr.readUnsignedInt(in, "PATHCONF3resok.name_max"),
                Xdr.readBoolean(in, "PATHCONF3resok.no_trunc"),
                Xdr.readBoolean(in, "PATHCONF3resok.chown_restricted"),
                Xdr.readBoolean(in, "PATHCONF3resok.case_insensitive"),
                Xdr.readBoolean(in, "PATHCONF3resok.case_preserving"));
    }

    @Override
    public void write(ByteBuf out) {
        out.writeInt((int) maxLinks);
        out.writeInt((int) maxNameBytes);
        Xdr.writeBoolean(out, noTruncation);
        Xdr.writeBoolean(out, ownershipRestricted);
        Xdr.writeBoolean(out, caseInsensitive);
        Xdr.writeBoolean(out, casePreserving);
    }
}
