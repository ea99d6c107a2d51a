package org.nettyrdma.example.nfs.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import org.nettyrdma.example.nfs.client.NfsEndpoint;
import org.nettyrdma.example.nfs.client.NfsException;
import org.nettyrdma.example.nfs.client.NfsSession;
import org.nettyrdma.example.nfs.client.RemoteFile;
import org.nettyrdma.example.nfs.client.RemoteFiles;
import org.nettyrdma.example.nfs.client.TreeCopy;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code nfs put}. */
@Command(name = "put",
        description = {"Copies from this machine to a server, with modes, times of change and links.",
            "Into the directory that URL names if there is one, otherwise to that name."},
        footerHeading = "%nExamples:%n",
        footer = {"  nfs put notes.txt rdma://server/", "  nfs put -r photos music rdma://server/backup"})
final class PutCommand extends RemoteCommand {

    @Mixin
    private TransferOptions transferOptions;

    @Option(names = "-r", description = "Copy directories with all that is in them.")
    private boolean recursive;

    @Parameters(index = "0..*", arity = "2..*", paramLabel = "LOCAL... URL", hideParamSyntax = true,
            description = "What to copy, and where to.")
    private List<String> arguments;

    @Override
    int execute() throws IOException {
        NfsEndpoint endpoint = parseEndpoint(arguments.get(arguments.size() - 1));
        List<Path> sources = arguments.subList(0, arguments.size() - 1).stream().map(Path::of).toList();
        long totalBytes = 0;
        for (Path source : sources) {
            boolean directory = Files.isDirectory(source, LinkOption.NOFOLLOW_LINKS);
            if (directory && !recursive) {
                throw new IOException(source + ": it is a directory; use -r to copy it");
            }
            totalBytes = directory || totalBytes < 0 ? CopyProgress.UNKNOWN_BYTES : totalBytes + Files.size(source);
        }
        try (CopyProgress progress = new CopyProgress("put", totalBytes, this::warn); NfsSession session = open(endpoint)) {
            RemoteFiles files = session.files();
            RemoteFile directory = existingDirectory(files, endpoint.path());
            if (directory == null && sources.size() > 1) {
                throw new IOException(endpoint.path() + ": no such directory");
            }
            for (Path source : sources) {
                RemoteFile parent = directory != null ? directory : files.findTarget(endpoint.parent().path());
                String name = directory != null ? name(source) : endpoint.name();
                TreeCopy.put(files, source, parent, name, transferOptions.toCopyOptions().setListener(progress));
            }
            return progress.exitCode();
        }
    }

    private static String name(Path source) {
        Path name = source.toAbsolutePath().normalize().getFileName();
        return name == null ? "root" : name.toString();
    }

    /** Returns {@code null} if there is none, so that the copy gets this name. */
    private static RemoteFile existingDirectory(RemoteFiles files, String path) throws IOException {
        try {
            RemoteFile file = files.findTarget(path);
            return file.attributes().isDirectory() ? file : null;
        } catch (NfsException e) {
            if (e.status() == NfsStatus.NOENT) {
                return null;
            }
            throw e;
        }
    }
}
