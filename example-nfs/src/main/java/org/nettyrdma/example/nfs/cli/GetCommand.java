package org.nettyrdma.example.nfs.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.List;
import org.nettyrdma.example.nfs.client.NfsEndpoint;
import org.nettyrdma.example.nfs.client.NfsSession;
import org.nettyrdma.example.nfs.client.RemoteFile;
import org.nettyrdma.example.nfs.client.TreeCopy;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code nfs get}. */
@Command(name = "get",
        description = {"Copies from a server to this machine, with modes, times of change and links.",
            "Into LOCAL if that is a directory, otherwise to that name."},
        footerHeading = "%nExamples:%n",
        footer = {"  nfs get rdma://server/notes.txt .", "  nfs get -r rdma://server/photos /tmp"})
final class GetCommand extends RemoteCommand {

    @Mixin
    private TransferOptions transferOptions;

    @Option(names = "-r", description = "Copy directories with all that is in them.")
    private boolean recursive;

    @Parameters(index = "0..*", arity = "2..*", paramLabel = "URL... LOCAL", hideParamSyntax = true,
            description = "What to copy, and where to.")
    private List<String> arguments;

    @Override
    int execute() throws IOException {
        Path local = Path.of(arguments.get(arguments.size() - 1));
        boolean intoDirectory = Files.isDirectory(local);
        if (!intoDirectory && arguments.size() > 2) {
            throw new NotDirectoryException(local.toString());
        }
        List<NfsEndpoint> endpoints = parseEndpoints(arguments.subList(0, arguments.size() - 1));
        try (CopyProgress progress = new CopyProgress("get", CopyProgress.UNKNOWN_BYTES, this::warn)) {
            for (NfsEndpoint endpoint : endpoints) {
                try (NfsSession session = open(endpoint)) {
                    RemoteFile file = session.files().find(endpoint.path());
                    if (file.attributes().isDirectory() && !recursive) {
                        throw new IOException(endpoint.path() + ": it is a directory; use -r to copy it");
                    }
                    Path target = intoDirectory ? local.resolve(file.name()) : local;
                    TreeCopy.get(session.files(), file, target, transferOptions.toCopyOptions().setListener(progress));
                }
            }
            return progress.exitCode();
        }
    }
}
