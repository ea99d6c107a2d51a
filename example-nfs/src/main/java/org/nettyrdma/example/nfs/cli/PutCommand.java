package org.nettyrdma.example.nfs.cli;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import org.nettyrdma.example.nfs.LocalNames;
import org.nettyrdma.example.nfs.client.CopyOptions;
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
    private TreeTransferOptions transferOptions;

    @Option(names = "-r", description = "Copy directories with all that is in them.")
    private boolean recursive;

    @Parameters(index = "0..*", arity = "2..*", paramLabel = "LOCAL... URL", hideParamSyntax = true,
            description = "What to copy, and where to.")
    private List<String> arguments;

    @Override
    void execute() throws IOException {
        String url = arguments.get(arguments.size() - 1);
        NfsEndpoint endpoint = parseEndpoint(url);
        List<Path> sources = arguments.subList(0, arguments.size() - 1).stream().map(this::parseSource).toList();
        requireDifferentNames(sources, PutCommand::name, LocalNames::textOf);
        long totalBytes = 0;
        for (Path source : sources) {
            long bytes = bytes(source);
            totalBytes = bytes < 0 || totalBytes < 0 ? CopyProgress.UNKNOWN_BYTES : totalBytes + bytes;
        }
        try (CopyProgress progress = new CopyProgress("put", totalBytes, this::warn, this::report);
                NfsSession session = open(endpoint)) {
            RemoteFiles files = session.files();
            RemoteFile existing = existing(files, endpoint.path());
            RemoteFile directory = existing != null && existing.attributes().isDirectory() ? existing : null;
            if (directory == null && (sources.size() > 1 || endpoint.path().endsWith("/"))) {
                throw new IOException(endpoint.path() + (existing == null ? ": no such directory" : ": not a directory"));
            }
            RemoteFile parent = directory != null ? directory : files.findTarget(endpoint.parent().path());
            CopyOptions options = transferOptions.toCopyOptions().setListener(progress);
            for (Path source : sources) {
                String name = directory != null ? name(source) : endpoint.name();
                progress.attempt(() -> {
                    if (attributes(source).isDirectory() && !recursive) {
                        throw new FileSystemException(LocalNames.textOf(source), null, "it is a directory; use -r to copy it");
                    }
                    TreeCopy.put(files, source, parent, name, options);
                });
            }
            if (progress.skippedAny()) {
                fail();
            }
        }
    }

    /** Java leaves out the slash at the end of a path, behind which the system knows directories only. */
    private Path parseSource(String path) {
        return parsePath(path.endsWith("/") ? path + "." : path);
    }

    /** How many are to be copied, as far as that is known before. */
    private static long bytes(Path source) {
        try {
            BasicFileAttributes attributes = attributes(source);
            return attributes.isDirectory() ? CopyProgress.UNKNOWN_BYTES : attributes.isRegularFile() ? attributes.size() : 0;
        } catch (IOException e) {
            return 0; // told when it is to be copied
        }
    }

    /** Those of a link itself, which may lead nowhere. */
    private static BasicFileAttributes attributes(Path source) throws IOException {
        return Files.readAttributes(source, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    }

    private static String name(Path source) {
        Path name = source.toAbsolutePath().normalize().getFileName();
        return name == null ? "root" : LocalNames.textOf(name);
    }

    /** Returns {@code null} if there is none, so that the copy gets this name. */
    private static RemoteFile existing(RemoteFiles files, String path) throws IOException {
        try {
            return files.findTarget(path);
        } catch (NfsException e) {
            if (e.status() == NfsStatus.NOENT) {
                return null;
            }
            throw e;
        }
    }

    @Override
    String interrupted() {
        return "interrupted; what was not copied whole is as it was before";
    }
}
