package org.nettyrdma.example.nfs.cli;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.util.List;
import org.nettyrdma.example.nfs.client.NfsEndpoint;
import org.nettyrdma.example.nfs.client.NfsSession;
import org.nettyrdma.example.nfs.client.RemoteFile;
import org.nettyrdma.example.nfs.client.TreeCopy;
import org.nettyrdma.example.nfs.protocol.FileType;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code nfs cat}. */
@Command(name = "cat", description = "Writes files to standard output.",
        footerHeading = "%nExamples:%n",
        footer = {"  nfs cat rdma://server/notes.txt", "  nfs cat rdma://server/a.tar | tar tv"})
final class CatCommand extends RemoteCommand {

    @Mixin
    private TransferOptions transferOptions;

    @Parameters(arity = "1..*", paramLabel = "URL", description = "The files.")
    private List<String> urls;

    @Override
    void execute() throws IOException {
        // Never closed, which would close it for all that is still to be written.
        FileChannel out = new FileOutputStream(FileDescriptor.out).getChannel();
        forEach(urls, (session, endpoint) -> write(session, endpoint, out));
    }

    private void write(NfsSession session, NfsEndpoint endpoint, FileChannel out) throws IOException {
        try {
            RemoteFile file = session.files().findTarget(endpoint.path());
            if (file.attributes().type() != FileType.REGULAR) {
                throw new IOException(endpoint.path() + ": it is not a file");
            }
            TreeCopy.read(session.files(), file, out, StandardOutput.NAME, transferOptions.toCopyOptions());
        } catch (FileSystemException e) {
            // No other local file is used.
            throw new StandardOutput.Failure(e);
        }
    }
}
