package org.nettyrdma.example.nfs.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.List;
import org.nettyrdma.example.nfs.LocalNames;
import org.nettyrdma.example.nfs.client.NfsEndpoint;
import org.nettyrdma.example.nfs.client.NfsSession;
import org.nettyrdma.example.nfs.client.RemoteFile;
import org.nettyrdma.example.nfs.client.TreeCopy;
import org.nettyrdma.example.nfs.protocol.FileType;
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
    private TreeTransferOptions transferOptions;

    @Option(names = "-r", description = "Copy directories with all that is in them.")
    private boolean recursive;

    @Parameters(index = "0..*", arity = "2..*", paramLabel = "URL... LOCAL", hideParamSyntax = true,
            description = "What to copy, and where to.")
    private List<String> arguments;

    private Path local;
    private boolean intoDirectory;

    @Override
    void execute() throws IOException {
        String last = arguments.get(arguments.size() - 1);
        local = parsePath(last);
        intoDirectory = Files.isDirectory(local);
        if (!intoDirectory && (arguments.size() > 2 || last.endsWith("/"))) {
            throw Files.exists(local) ? new NotDirectoryException(local.toString())
                    : new IOException(local + ": no such directory");
        }
        List<String> urls = arguments.subList(0, arguments.size() - 1);
        requireDifferentNames(parseEndpoints(urls), NfsEndpoint::name, NfsEndpoint::toString);
        forEach(urls, this::copy);
    }

    private void copy(NfsSession session, NfsEndpoint endpoint) throws IOException {
        RemoteFile file = session.files().find(endpoint.path());
        if (file.attributes().isDirectory() && !recursive) {
            throw new IOException(endpoint.path() + ": it is a directory; use -r to copy it");
        }
        String name = endpoint.name(); // that of the link, where one was followed
        Path target = intoDirectory ? child(file, name) : local;
        long bytes = file.attributes().type() == FileType.REGULAR ? file.attributes().size() : CopyProgress.UNKNOWN_BYTES;
        try (CopyProgress progress = new CopyProgress("get", bytes, this::warn, this::report)) {
            // The root of a server has no name: what the user has named is no copy of it, and a server must not open it.
            TreeCopy.get(session.files(), file, target, transferOptions.toCopyOptions().setListener(progress)
                    .setKeepsTargetAttributes(intoDirectory && name.isEmpty()));
            if (progress.skippedAny()) {
                fail();
            }
        }
    }

    /** The root of a server has no name: its files go into the directory itself. */
    private Path child(RemoteFile file, String name) throws IOException {
        try {
            return name.isEmpty() ? local.toRealPath() : LocalNames.child(local, name);
        } catch (InvalidPathException e) {
            throw new IOException(file.path() + ": this machine cannot have its name: " + e.getReason(), e);
        }
    }

    @Override
    String interrupted() {
        return "interrupted; what was not copied whole is as it was before";
    }
}
