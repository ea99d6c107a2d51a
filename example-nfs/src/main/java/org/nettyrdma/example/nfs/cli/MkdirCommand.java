package org.nettyrdma.example.nfs.cli;

import java.io.IOException;
import java.util.List;
import org.nettyrdma.example.nfs.client.NfsEndpoint;
import org.nettyrdma.example.nfs.client.NfsSession;
import org.nettyrdma.example.nfs.protocol.Sattr;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code nfs mkdir}. */
@Command(name = "mkdir", description = {"Creates directories, with mode 0755.",
            "If the server is lost before it can answer, it may say afterwards that the directory exists. -p takes that."},
        footerHeading = "%nExamples:%n", footer = {"  nfs mkdir rdma://server/new", "  nfs mkdir -p rdma://server/a/b/c"})
final class MkdirCommand extends RemoteCommand {

    private static final Sattr ATTRIBUTES = Sattr.NONE.withMode(0755);

    @Option(names = "-p", description = "Create missing parents too; it is no error if the directory exists.")
    private boolean parents;

    @Parameters(arity = "1..*", paramLabel = "URL", description = "The directories.")
    private List<String> urls;

    @Override
    void execute() throws IOException {
        forEach(urls, this::make);
    }

    private void make(NfsSession session, NfsEndpoint endpoint) throws IOException {
        if (parents) {
            session.files().makeDirectories(endpoint.path(), ATTRIBUTES);
        } else {
            session.files().makeDirectory(endpoint.path(), ATTRIBUTES);
        }
    }
}
