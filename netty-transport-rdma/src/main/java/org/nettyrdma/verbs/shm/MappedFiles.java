package org.nettyrdma.verbs.shm;

import java.io.EOFException;
import java.io.IOException;
import java.lang.ref.Cleaner;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.nettyrdma.verbs.support.DirectMemory;

/**
 * Makes files and maps them.
 *
 * <p>A process that truncates a file which we have mapped makes our next access to it fail. The JVM turns that into an
 * {@link InternalError}, which some versions throw only when the thread next calls into the JVM itself: {@link #settle()} does
 * so, and must come before anything that was read from another process's file is believed.
 */
final class MappedFiles {

    private static final ByteBuffer ZEROS = ByteBuffer.allocateDirect(1 << 16);

    /** Where the JVM delivers such errors by handshakes, as OpenJDK does since 18, each call of a native method settles. */
    private static final boolean SETTLED_BY_NATIVE_CALL = Runtime.version().feature() >= 21;

    /** Mappings that nobody uses, at most, where only the garbage collector can end them: it is asked to look for them then. */
    static final int MAX_UNUSED = 4096;

    private static final int COLLECTION_STEPS = 50;
    private static final long COLLECTION_STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long COLLECTION_RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final Cleaner COLLECTED = DirectMemory.isFreedAtOnce() ? null : Cleaner.create();
    private static final AtomicInteger UNUSED = new AtomicInteger();
    private static long nextCollectionNanos = System.nanoTime();

    /** Not final, so that the compiler cannot foresee the size. */
    private static int none;
    private static byte[][] last;

    private MappedFiles() {
    }

    /**
     * Creates a file of zeros and maps it for reading and writing. The memory is really there.
     *
     * @throws IOException if the file system is full, for example
     */
    static MappedByteBuffer create(ProcessDirectory directory, Path file, int bytes) throws IOException {
        try {
            return ChannelTask.uninterrupted(() -> createNew(directory, file, bytes));
        } catch (IOException e) {
            throw noMemory(directory, bytes, e);
        }
    }

    /** A failure of the system to write names no file, and one to find the directory does not tell what that means. */
    static IOException noMemory(ProcessDirectory directory, int bytes, IOException cause) {
        if (cause instanceof NoSuchFileException) {
            return new IOException(directory + " was removed by another process: until this one starts again it can share no"
                    + " more memory", cause);
        }
        return cause instanceof FileSystemException ? cause : new IOException(
                "no shared memory for " + bytes + " bytes in " + directory.shared() + ": " + cause.getMessage(), cause);
    }

    private static MappedByteBuffer createNew(ProcessDirectory directory, Path file, int bytes) throws IOException {
        try (FileChannel channel = FileChannel.open(file,
                Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE), directory.fileMode())) {
            try {
                fill(channel, bytes);
                requireFewUnused();
                directory.created(file);
                return channel.map(FileChannel.MapMode.READ_WRITE, 0, bytes);
            } catch (IOException | RuntimeException | Error e) {
                Files.deleteIfExists(file);
                throw e;
            }
        }
    }

    /**
     * Removes a file. Who has it mapped still has an empty one, which takes no memory, unless this process has no descriptor left
     * to make it empty.
     */
    static void remove(Path file) throws IOException {
        try {
            ChannelTask.uninterrupted(() -> {
                try (FileChannel channel = FileChannel.open(file, UnixFile.AT_ONCE)) {
                    return channel.truncate(0);
                }
            });
        } catch (NoSuchFileException e) {
            return; // the end of the JVM has removed it
        } finally {
            Files.deleteIfExists(file);
        }
    }

    /** A page that is first written through the mapping would end the access with a fault where the file system is full. */
    private static void fill(FileChannel channel, int bytes) throws IOException {
        ByteBuffer zeros = ZEROS.duplicate();
        for (long written = 0; written < bytes; ) {
            zeros.clear().limit((int) Math.min(zeros.capacity(), bytes - written));
            written += channel.write(zeros);
        }
    }

    /**
     * Maps a file of another process for reading.
     *
     * @param minBytes what it must have at least
     * @param maxBytes what is mapped at most
     * @return its length at this moment
     * @throws IOException if there is no such file, it is too short, or it is none of that process's
     */
    static MappedByteBuffer map(Path file, int minBytes, int maxBytes) throws IOException {
        return ChannelTask.uninterrupted(() -> mapThere(file, minBytes, maxBytes));
    }

    private static MappedByteBuffer mapThere(Path file, int minBytes, int maxBytes) throws IOException {
        try (FileChannel channel = open(file)) {
            long bytes = channel.size();
            if (bytes < minBytes || bytes > Integer.MAX_VALUE) {
                throw new EOFException(file + " has " + bytes + " bytes (expected: " + minBytes + " to 2^31 - 1)");
            }
            requireFewUnused();
            return channel.map(FileChannel.MapMode.READ_ONLY, 0, Math.min(bytes, maxBytes));
        }
    }

    /**
     * Opens a file of another process for reading. One of the same user can put a pipe there at any moment, and to open a pipe
     * for reading takes until somebody writes to it. To open one for both takes no time. The price: a file that its owner
     * truncates between the look at its size and the mapping is made longer again, and has zeros.
     *
     * @throws IOException if there is no such file, it is empty, or it is none of that process's
     */
    static FileChannel open(Path file) throws IOException {
        int user = requireFileOfProcess(file);
        FileChannel channel = user == ShmSettings.userId() ? FileChannel.open(file, UnixFile.AT_ONCE)
                : OtherUsersFiles.open(file, user);
        try {
            if (channel.size() == 0) { // as that of a pipe is, from which nothing may ever come
                throw new EOFException(file + " is empty or no plain file");
            }
            return channel;
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    /** A link may lead to what the other process cannot read itself. Returns the user whose file it is. */
    private static int requireFileOfProcess(Path path) throws IOException {
        UnixFile directory = UnixFile.at(path.getParent());
        UnixFile file = UnixFile.at(path);
        if (!directory.isDirectory() || !file.isPlain() || file.userId() != directory.userId()) {
            throw new ShmProtocolException(EndReason.FAILED, "%s is no file of its process", path);
        }
        return file.userId();
    }

    /** Nobody uses the memory any more. OpenJDK 17 ends the process where a failed access shows only while it unmaps a file. */
    static void unmap(MappedByteBuffer memory) {
        try {
            settle();
        } catch (InternalError e) {
            // Nothing is believed any more that was read there, and nobody misses what was written.
        }
        if (COLLECTED == null) {
            DirectMemory.free(memory);
        } else {
            UNUSED.incrementAndGet();
            COLLECTED.register(memory, UNUSED::decrementAndGet);
        }
    }

    /** Visible for tests: mappings that nobody uses, and that the garbage collector has not ended. */
    static int unused() {
        return UNUSED.get();
    }

    /** Visible for tests: whether the garbage collector would be asked if there were too many. */
    static synchronized boolean mayCollect() {
        return System.nanoTime() - nextCollectionNanos >= 0;
    }

    /** Linux lets a process map so many files and no more: beyond that the JVM cannot go on. */
    private static void requireFewUnused() throws IOException {
        if (UNUSED.get() >= MAX_UNUSED && !collect()) {
            throw new IOException(UNUSED + " unused files are mapped (expected: less than " + MAX_UNUSED
                    + "): the garbage collector, which alone can end that without sun.misc.Unsafe, does not find them");
        }
    }

    /** Threads that come meanwhile wait for the same collection. */
    private static synchronized boolean collect() {
        if (UNUSED.get() >= MAX_UNUSED && mayCollect()) {
            System.gc();
            for (int i = 0; i < COLLECTION_STEPS && UNUSED.get() >= MAX_UNUSED; i++) {
                LockSupport.parkNanos(COLLECTION_STEP_NANOS);
            }
            if (UNUSED.get() >= MAX_UNUSED) {
                nextCollectionNanos = System.nanoTime() + COLLECTION_RETRY_NANOS;
            }
        }
        return UNUSED.get() < MAX_UNUSED;
    }

    /**
     * Throws what an access to mapped memory has failed with, if any has since the last call.
     *
     * @throws InternalError if a file was truncated
     */
    static void settle() {
        if (SETTLED_BY_NATIVE_CALL) {
            Thread.holdsLock(ZEROS);
        } else {
            // OpenJDK 17 ignores these errors at the end of a native method. Arrays of arrays of a size that is not constant are
            // made by the JVM itself, in every mode of execution. Nothing that it does so takes less memory: 16 bytes.
            last = new byte[none][none];
        }
    }
}
