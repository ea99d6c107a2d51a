package org.nettyrdma.example.nfs.client;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.GatheringByteChannel;
import java.nio.file.FileSystemException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import org.nettyrdma.example.nfs.protocol.Fattr;

/**
 * Writes the content of a file on the server to a local channel, in order, with a window of READ calls. The data goes from the
 * buffers of the replies to the channel without a copy in between. One thread, which waits.
 */
final class Download {

    private final NfsClient client;
    private final RemoteFile source;
    private final GatheringByteChannel target;
    private final String targetName;
    private final CopyOptions options;
    private final int transferBytes;
    private final Deque<PendingRead> window = new ArrayDeque<>();
    private long copiedBytes;
    private Fattr attributes;

    private record PendingRead(long offset, int length, CompletableFuture<ReadResult> reply) {
    }

    /**
     * @param target a {@link FileChannel} at position 0, or any other blocking channel
     * @param targetName what a failure of the target is called by
     */
    Download(RemoteFiles files, RemoteFile source, GatheringByteChannel target, String targetName, CopyOptions options) {
        this.client = files.client();
        this.source = source;
        this.target = target;
        this.targetName = targetName;
        this.options = options;
        this.attributes = source.attributes();
        this.transferBytes = options.transferBytes(files.limits().maxReadBytes());
    }

    /**
     * Copies the file up to its end, which may lie behind where it was when the file was looked up: whole directories are listed
     * before the first of their files is copied. Behind that, there is one call at a time.
     *
     * @throws IOException if it is shorter now, after what is there was copied; or if reading or writing fails
     */
    void run() throws IOException {
        long size = source.attributes().size();
        if (size < 0) {
            throw failure("no file has " + Long.toUnsignedString(size) + " bytes");
        }
        try {
            boolean endOfFile = false;
            long offset = 0;
            while (!endOfFile) {
                if (window.size() < options.callsPerFile() && (offset < size || window.isEmpty())) {
                    int length = offset < size ? (int) Math.min(transferBytes, size - offset) : transferBytes;
                    window.addLast(read(offset, length));
                    offset += length;
                } else {
                    endOfFile = settle(window.removeFirst());
                }
            }
            if (copiedBytes < size) {
                throw failure("the file became shorter while it was copied");
            }
        } finally {
            window.forEach(Download::abandon);
        }
    }

    /** What says nothing about other files: a {@link FailureListener} goes on with them. */
    private IOException failure(String reason) {
        return new FileSystemException(source.path(), null, reason);
    }

    /** What the server has told of the file last. */
    Fattr attributes() {
        return attributes;
    }

    private PendingRead read(long offset, int length) {
        return new PendingRead(offset, length, client.read(source.handle(), offset, length));
    }

    /** Returns whether the file ends with this piece, or before it. */
    private boolean settle(PendingRead pending) throws IOException {
        PendingRead read = pending;
        while (true) {
            ReadResult result = result(read);
            int count = result.content().readableBytes();
            try {
                write(result.content());
            } finally {
                result.release();
            }
            copiedBytes += count;
            attributes = result.attributes() == null ? attributes : result.attributes();
            options.listener().copied(count);
            if (result.endOfFile() || count == read.length) {
                return result.endOfFile();
            }
            if (count == 0) {
                throw failure("the server returns no data, and says that the file does not end there");
            }
            read = read(read.offset + count, read.length - count);
        }
    }

    private ReadResult result(PendingRead read) throws IOException {
        try {
            return RemoteFiles.call(source.path(), read.reply);
        } catch (InterruptedIOException e) {
            abandon(read);
            throw e;
        }
    }

    /** A reply that nobody waits for still brings data. */
    private static void abandon(PendingRead read) {
        read.reply.thenAccept(ReadResult::release);
    }

    private void write(ByteBuf data) throws IOException {
        try {
            while (data.isReadable()) {
                data.readBytes(target, data.readableBytes());
            }
        } catch (IOException e) {
            throw LocalFailures.named(targetName, e);
        }
    }
}
