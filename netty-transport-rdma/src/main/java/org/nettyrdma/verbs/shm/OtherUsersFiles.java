package org.nettyrdma.verbs.shm;

import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.nettyrdma.verbs.support.SocketFailures;

/**
 * Opens files of other users, most of which this process may only read. Each can put a pipe in the place of its file at any
 * moment, and to open that takes until somebody writes to it, which no interrupt ends; or take a lease on its file, with much
 * the same effect. So a thread of its own opens the file, and who waits for it does so for a time only. While one that nobody
 * waits for any more is not opened, no other of that user is: so there are no more such threads than there are event loops.
 */
final class OtherUsersFiles {

    /** An event loop may have to wait so long. */
    static final int LIMIT_MILLIS = 500;

    /** How many openings nobody waits for any more, by user. */
    private static final Map<Integer, Integer> ABANDONED = new ConcurrentHashMap<>();

    private OtherUsersFiles() {
    }

    /**
     * Opens a file for reading.
     *
     * @param user whose it is
     * @throws IOException if there is none, or it takes too long, or another one of that user does
     */
    static FileChannel open(Path file, int user) throws IOException {
        return open(file, user, Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS), LIMIT_MILLIS);
    }

    /**
     * Opens a file.
     *
     * @param user        whose it is
     * @param options     for what
     * @param limitMillis how long to wait
     * @throws IOException if there is none, or it takes too long, or another one of that user does
     */
    static FileChannel open(Path file, int user, Set<OpenOption> options, int limitMillis) throws IOException {
        if (hasAbandoned(user)) {
            throw new IOException(file + " is not opened: another file of user " + user + " has not been opened yet");
        }
        CompletableFuture<FileChannel> opening = new CompletableFuture<>();
        Thread thread = new Thread(() -> open(file, user, options, opening), "netty-rdma-shm-open");
        thread.setDaemon(true);
        thread.start();
        try {
            return opening.get(limitMillis, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            throw abandon(opening, user, new IOException(file + " could not be opened within " + limitMillis + " ms"));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw abandon(opening, user, new ClosedByInterruptException());
        } catch (ExecutionException e) {
            throw e.getCause() instanceof IOException cause ? cause : new IOException(file.toString(), e.getCause());
        }
    }

    private static void open(Path file, int user, Set<OpenOption> options, CompletableFuture<FileChannel> opening) {
        boolean isAwaited;
        try {
            FileChannel channel = FileChannel.open(file, options);
            isAwaited = opening.complete(channel);
            if (!isAwaited) {
                SocketFailures.closeQuietly(channel);
            }
        } catch (Throwable t) {
            isAwaited = opening.completeExceptionally(t);
        }
        if (!isAwaited) {
            count(user, -1);
        }
    }

    private static IOException abandon(CompletableFuture<FileChannel> opening, int user, IOException failure) {
        count(user, 1); // first: the thread takes it back
        if (!opening.completeExceptionally(failure)) { // it has come to an end just now
            count(user, -1);
            opening.thenAccept(SocketFailures::closeQuietly);
        }
        return failure;
    }

    private static void count(int user, int change) {
        ABANDONED.compute(user, (key, count) -> {
            int changed = (count == null ? 0 : count) + change;
            return changed == 0 ? null : changed;
        });
    }

    /** Whether a file of a user has not been opened in time, and still is not. */
    static boolean hasAbandoned(int user) {
        return ABANDONED.containsKey(user);
    }
}
