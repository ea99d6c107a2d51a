package org.nettyrdma.example.nfs.protocol;

import io.netty.buffer.ByteBuf;
import org.nettyrdma.codec.oncrpc.Xdr;

/**
 * One name of a directory: {@code entry3} of READDIR and {@code entryplus3} of READDIRPLUS (RFC 1813, sections 3.3.16
 * and 3.3.17). On the wire each entry follows the word 1, and the word 0 ends the list.
 *
 * @param fileId     number of the file
 * @param name       the name
 * @param cookie     where to go on behind this entry
 * @param attributes attributes of the file, or {@code null} if not known; READDIRPLUS only
 * @param handle     handle of the file, or {@code null} if not known; READDIRPLUS only
 */
public record DirectoryEntry(long fileId, String name, long cookie, Fattr attributes, FileHandle handle) implements WireForm {

    /**
     * Reads an entry of READDIR.
     *
     * @param in the result, behind the word 1
     * @return the entry, without attributes and handle
     */
    public static DirectoryEntry read(ByteBuf in) {
        return new DirectoryEntry(Xdr.readHyper(in, "entry3.fileid"),
                NameText.read(in, Nfs.MAX_STRING_BYTES, "entry3.name"), Xdr.readHyper(in, "entry3.cookie"), null, null);
    }

    /**
     * Reads an entry of READDIRPLUS.
     *
     * @param in the result, behind the word 1
     * @return the entry
     */
    public static DirectoryEntry readPlus(ByteBuf in) {
        return new DirectoryEntry(Xdr.readHyper(in, "entryplus3.fileid"),
                NameText.read(in, Nfs.MAX_STRING_BYTES, "entryplus3.name"), Xdr.readHyper(in, "entryplus3.cookie"),
                Fattr.readOptional(in), FileHandle.readOptional(in));
    }

    /** Writes the entry in the form of READDIR, without the word before it. */
    @Override
    public void write(ByteBuf out) {
        out.writeLong(fileId);
        NameText.write(out, name);
        out.writeLong(cookie);
    }

    /**
     * Writes what the form of READDIRPLUS has behind that of READDIR: attributes and handle.
     *
     * @param out the result
     */
    public void writeFile(ByteBuf out) {
        WireForm.writeOptional(attributes, out);
        WireForm.writeOptional(handle, out);
    }
}
