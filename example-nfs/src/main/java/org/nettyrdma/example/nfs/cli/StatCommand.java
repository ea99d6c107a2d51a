package org.nettyrdma.example.nfs.cli;

import java.io.IOException;
import java.util.List;
import java.util.Locale;
import org.nettyrdma.example.nfs.client.NfsEndpoint;
import org.nettyrdma.example.nfs.client.NfsSession;
import org.nettyrdma.example.nfs.client.RemoteFile;
import org.nettyrdma.example.nfs.protocol.Fattr;
import org.nettyrdma.example.nfs.protocol.FileType;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code nfs stat}. */
@Command(name = "stat",
        description = "Shows all that a server tells about files. Symbolic links are not followed.",
        footerHeading = "%nExamples:%n", footer = {"  nfs stat rdma://server/notes.txt"})
final class StatCommand extends RemoteCommand {

    @Parameters(arity = "1..*", paramLabel = "URL", description = "The files.")
    private List<String> urls;

    @Override
    void execute() throws IOException {
        forEach(urls, this::show);
    }

    private void show(NfsSession session, NfsEndpoint endpoint) throws IOException {
        RemoteFile file = session.files().find(endpoint.path());
        TextTable table = new TextTable("", "");
        addRows(table, file);
        if (file.attributes().type() == FileType.SYMBOLIC_LINK) {
            table.add("target:", TerminalText.escape(session.files().readLink(file)));
        }
        table.print(out());
    }

    private static void addRows(TextTable table, RemoteFile file) {
        Fattr attributes = file.attributes();
        table.add("path:", TerminalText.escape(file.path()));
        table.add("type:", attributes.type().name().toLowerCase(Locale.ROOT).replace('_', ' '));
        table.add("mode:", "%s (%04o)".formatted(FileFormat.mode(attributes), attributes.mode()));
        table.add("size:", Long.toUnsignedString(attributes.size()) + " bytes, "
                + Long.toUnsignedString(attributes.used()) + " used");
        table.add("links:", Integer.toUnsignedString(attributes.linkCount()));
        table.add("owner:", Integer.toUnsignedString(attributes.userId()) + ", group "
                + Integer.toUnsignedString(attributes.groupId()));
        table.add("file id:", Long.toUnsignedString(attributes.fileId()) + " on file system "
                + Long.toHexString(attributes.fileSystemId()));
        table.add("accessed:", attributes.accessTime().toFileTime().toString());
        table.add("modified:", attributes.modifyTime().toFileTime().toString());
        table.add("changed:", attributes.changeTime().toFileTime().toString());
        table.add("handle:", file.handle().toString());
    }
}
