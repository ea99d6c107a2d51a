package org.nettyrdma.example.nfs.cli;

import java.io.IOException;
import java.util.Iterator;
import java.util.List;
import org.nettyrdma.example.nfs.client.NfsEndpoint;
import org.nettyrdma.example.nfs.client.NfsSession;
import org.nettyrdma.example.nfs.client.RemoteFile;
import org.nettyrdma.example.nfs.client.RemoteFiles;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code nfs ls}. */
@Command(name = "ls", description = "Lists directories, or shows that files exist.",
        footerHeading = "%nExamples:%n",
        footer = {"  nfs ls rdma://server/", "  nfs ls -l rdma://[::1]:20049/photos tcp://server/backup"})
final class LsCommand extends RemoteCommand {

    @Option(names = "-l", description = "Type, mode, links, owner, group, size, time of change; target of links.")
    private boolean longFormat;

    @Parameters(arity = "1..*", paramLabel = "URL", description = "What to list.")
    private List<String> urls;

    @Override
    void execute() throws IOException {
        forEach(urls, this::list);
    }

    private void list(NfsSession session, NfsEndpoint endpoint) throws IOException {
        RemoteFiles files = session.files();
        RemoteFile file = files.find(endpoint.path());
        boolean isDirectory = file.attributes().isDirectory();
        if (longFormat) {
            List<RemoteFile> listed = isDirectory ? files.list(file, this::report) : List.of(file);
            printHeading(endpoint);
            print(files, listed);
        } else {
            List<String> names = isDirectory ? files.names(file, this::report) : List.of(file.name());
            printHeading(endpoint);
            names.forEach(name -> out().println(TerminalText.escape(name)));
        }
    }

    private void printHeading(NfsEndpoint endpoint) {
        if (urls.size() > 1) {
            out().println(TerminalText.escape(endpoint.toString()) + ":");
        }
    }

    private void print(RemoteFiles files, List<RemoteFile> listed) throws IOException {
        TextTable table = new TextTable("", ">", "", "", ">", "");
        for (RemoteFile file : listed) {
            table.add(FileFormat.longColumns(file.attributes()));
        }
        Iterator<String> lines = table.lines().iterator();
        for (RemoteFile file : listed) { // targets of links may take more memory than the list, so none is kept
            out().println(lines.next() + TextTable.SEPARATOR + FileFormat.nameAndTarget(files, file));
        }
    }
}
