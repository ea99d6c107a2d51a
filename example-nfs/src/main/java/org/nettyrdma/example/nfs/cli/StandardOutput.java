package org.nettyrdma.example.nfs.cli;

import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import org.nettyrdma.example.nfs.client.LocalFailures;

/** Standard output that remembers why it could not be written; writers keep only that. Any thread. */
final class StandardOutput extends OutputStream {

    static final String NAME = "standard output";

    private final OutputStream out = new FileOutputStream(FileDescriptor.out);
    private volatile IOException failure;

    /** A writer that writes when it is flushed, or has collected much. */
    PrintWriter newWriter() {
        return new PrintWriter(new BufferedOutputStream(this), false, Charset.defaultCharset());
    }

    /** Returns {@code null} if all that was written is written. */
    IOException failure() {
        return failure;
    }

    @Override
    public void write(int octet) throws IOException {
        write(new byte[] {(byte) octet});
    }

    @Override
    public void write(byte[] octets, int offset, int length) throws IOException {
        try {
            out.write(octets, offset, length);
        } catch (IOException e) {
            failure = failure == null ? e : failure;
            throw e;
        }
    }

    /** Standard output cannot be written: whatever is still to be shown will not be seen either. */
    static final class Failure extends IOException {

        private static final long serialVersionUID = 1L;

        Failure(IOException cause) {
            super(NAME + ": " + LocalFailures.reason(cause), cause);
        }
    }
}
