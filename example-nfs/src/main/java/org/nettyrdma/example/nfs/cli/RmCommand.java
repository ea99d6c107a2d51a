package org.nettyrdma.example.nfs.cli;

import java.io.IOException;
import java.util.List;
import org.nettyrdma.example.nfs.client.NfsEndpoint;
import org.nettyrdma.example.nfs.client.NfsSession;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code nfs rm}. */
@Command(name = "rm",
        description = "Removes files. Symbolic links are removed, not followed. What somebody else removes at the same time"
                + " counts as removed.",
        footerHeading = "%nExamples:%n", footer = {"  nfs rm rdma://server/notes.txt", "  nfs rm -r rdma://server/backup"})
final class RmCommand extends RemoteCommand {

    @Option(names = "-r", description = "Remove directories too, with all that is in them.")
    private boolean recursive;

    @Parameters(arity = "1..*", paramLabel = "URL", description = "What to remove.")
    private List<String> urls;

    @Override
    void execute() throws IOException {
        forEach(urls, this::remove);
    }

    private void remove(NfsSession session, NfsEndpoint endpoint) throws IOException {
        if (recursive) {
            session.files().removeTree(endpoint.path(), this::report);
        } else {
            session.files().remove(endpoint.path());
        }
    }
}
