package org.nettyrdma.example.nfs.protocol;

import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.List;
import org.nettyrdma.codec.oncrpc.Xdr;

/**
 * What is exported to whom: {@code exportnode} (RFC 1813, section 5.2.5).
 *
 * @param directory the path to mount
 * @param groups    names of the clients that may mount it; empty for everybody
 */
public record ExportEntry(String directory, List<String> groups) {

    /**
     * Keeps a copy of the groups.
     *
     * @param directory the path
     * @param groups    the clients
     */
    public ExportEntry {
        groups = List.copyOf(groups);
    }

    /**
     * Reads the result of EXPORT.
     *
     * @param in the result
     * @return the entries, in the order of the wire
     */
    public static List<ExportEntry> readList(ByteBuf in) {
        List<ExportEntry> entries = new ArrayList<>();
        while (Xdr.readBoolean(in, "exports")) {
            String directory = NameText.read(in, Mount.MAX_PATH_BYTES, "ex_dir");
            List<String> groups = new ArrayList<>();
            while (Xdr.readBoolean(in, "groups")) {
                groups.add(Xdr.readString(in, Mount.MAX_NAME_BYTES, "gr_name"));
            }
            entries.add(new ExportEntry(directory, groups));
        }
        return entries;
    }

    /**
     * Writes the result of EXPORT.
     *
     * @param entries the entries
     * @param out     the result
     */
    public static void writeList(List<ExportEntry> entries, ByteBuf out) {
        for (ExportEntry entry : entries) {
            Xdr.writeBoolean(out, true);
            NameText.write(out, entry.directory);
            for (String group : entry.groups) {
                Xdr.writeBoolean(out, true);
                Xdr.writeString(out, group);
            }
            Xdr.writeBoolean(out, false);
        }
        Xdr.writeBoolean(out, false);
    }
}
