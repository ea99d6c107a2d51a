package org.nettyrdma.example.nfs.protocol;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.util.ArrayList;
import java.util.List;
import org.nettyrdma.codec.oncrpc.Xdr;

/**
 * Who mounted what: {@code mountbody} (RFC 1813, section 5.2.2).
 *
 * @param host      the client
 * @param directory the path it mounted
 */
public record MountEntry(String host, String directory) {

    /**
     * What the entry takes in the result of DUMP, with the word in front that says that it follows.
     *
     * @return bytes
     */
    public int length() {
        return 3 * Integer.BYTES + Xdr.paddedLength(ByteBufUtil.utf8Bytes(host))
                + Xdr.paddedLength(NameText.encode(directory).length);
    }

    /**
     * Reads the result of DUMP.
     *
     * @param in the result
     * @return the entries, in the order of the wire
     */
    public static List<MountEntry> readList(ByteBuf in) {
        List<MountEntry> entries = new ArrayList<>();
        while (Xdr.readBoolean(in, "mountlist")) {
            entries.add(new MountEntry(Xdr.readString(in, Mount.MAX_NAME_BYTES, "ml_hostname"),
                    NameText.read(in, Mount.MAX_PATH_BYTES, "ml_directory")));
        }
        return entries;
    }

    /**
     * Writes the result of DUMP.
     *
     * @param entries the entries
     * @param out     the result
     */
    public static void writeList(List<MountEntry> entries, ByteBuf out) {
        for (MountEntry entry : entries) {
            Xdr.writeBoolean(out, true);
            Xdr.writeString(out, entry.host);
            NameText.write(out, entry.directory);
        }
        Xdr.writeBoolean(out, false);
    }
}
