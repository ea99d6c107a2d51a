package org.nettyrdma.example.nfs.client;

import io.netty.buffer.ByteBuf;
import java.io.EOFException;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.nettyrdma.example.nfs.protocol.CommitArguments;
import org.nettyrdma.example.nfs.protocol.StableHow;

/**
 * Writes the content of a local file to a file on the server: a window of WRITE calls, and a COMMIT at the end. The data is
 * read from the file into buffers of the channel's allocator, and goes from there to the server. One thread, which waits.
 */
final class Upload {

    /** How often all is written again because the server lost what it had not made stable. */
    private static final int MAX_REWRITES = 3;

    private final NfsClient client;
    private final FileChannel source;
    private final String sourceName;
    private final RemoteFile target;
    private final CopyOptions options;
    private final int transferBytes;
    private final Deque<PendingWrite> window = new ArrayDeque<>();

    /** What the replies of the current pass said: more than one verifier if the server may have lost something. */
    private final Set<Long> verifiers = new HashSet<>();
    private boolean unstable;

    private record PendingWrite(long offset, int length, CompletableFuture<WriteResult> reply) {
    }

    /** {@code sourceName} is what a failure of the source is called by. */
    Upload(RemoteFiles files, FileChannel source, String sourceName, RemoteFile target, CopyOptions options) {
        this.client = files.client();
        this.source = source;
        this.sourceName = sourceName;
        this.target = target;
        this.options = options;
        this.transferBytes = options.transferBytes(files.limits().maxWriteBytes());
    }

    /** Copies all that is in the file now. */
    void run() throws IOException {
        long size = source.size();
        for (int pass = 0; pass <= MAX_REWRITES; pass++) {
            writeAll(size, pass > 0);
            if (!unstable || verifiers.size() == 1 && verifiers.contains(commit())) {
                return;
            }
        }
        throw new IOException(target.path() + ": the server lost uncommitted data " + (MAX_REWRITES + 1) + " times");
    }

    private void writeAll(long size, boolean again) throws IOException {
        unstable = false;
        verifiers.clear();
        // One call that is stable at once is cheaper than two. What a server has lost it may lose again, unless each call is.
        StableHow stable = size <= transferBytes || again ? StableHow.FILE_SYNC : StableHow.UNSTABLE;
        try {
            for (long offset = 0; offset < size; offset += transferBytes) {
                if (window.size() == options.callsPerFile()) {
                    settle(window.removeFirst(), stable, !again);
                }
                window.addLast(write(offset, (int) Math.min(transferBytes, size - offset), stable));
            }
            while (!window.isEmpty()) {
                settle(window.removeFirst(), stable, !again);
            }
        } finally {
            window.clear();
        }
    }

    private PendingWrite write(long offset, int length, StableHow stable) throws IOException {
        ByteBuf data = client.allocator().directBuffer(length);
        try {
            for (int read = 0; read < length; ) {
                int count = data.writeBytes(source, offset + read, length - read);
                if (count < 0) {
                    // The buffer says so, too, of a file that an interrupt has closed.
                    throw source.isOpen() ? new EOFException("the file became shorter while it was copied")
                            : new ClosedByInterruptException();
                }
                read += count;
            }
        } catch (IOException e) {
            data.release();
            throw LocalFailures.named(sourceName, e);
        } catch (RuntimeException | Error e) {
            data.release();
            throw e;
        }
        return new PendingWrite(offset, length, client.write(target.handle(), offset, stable, data));
    }

    private void settle(PendingWrite pending, StableHow stable, boolean report) throws IOException {
        PendingWrite write = pending;
        while (true) {
            WriteResult result = RemoteFiles.call(target.path(), write.reply);
            unstable |= result.committed() == StableHow.UNSTABLE;
            verifiers.add(result.verifier());
            if (report) {
                options.listener().copied(result.count());
            }
            if (result.count() == write.length) {
                return;
            }
            if (result.count() == 0) {
                throw new IOException(target.path() + ": the server writes nothing, and gives no reason");
            }
            write = write(write.offset + result.count(), write.length - result.count(), stable);
        }
    }

    private long commit() throws IOException {
        return RemoteFiles.call(target.path(), client.commit(new CommitArguments(target.handle(), 0, 0)));
    }
}
