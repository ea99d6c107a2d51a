package org.nettyrdma.verbs.shm;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.security.SecureRandom;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files of this process, in a directory of its own inside the directory that all processes share. As long as the process
 * lives it holds a lock on a file in there, which the system takes away at its death, whatever the death. So everybody can see
 * which files belong to nobody any more, and removes them.
 *
 * <p>There is one per shared directory and class loader of the library. The process loses all its locks on a file when it closes
 * any channel to it, so nobody in the JVM opens the locks of others in it: a system property names the directory of each. Safe
 * for use from any thread.
 */
final class ProcessDirectory {

    private static final Logger LOGGER = LoggerFactory.getLogger(ProcessDirectory.class);

    private static final Map<Path, ProcessDirectory> OPEN = new HashMap<>();
    private static final SecureRandom RANDOM = new SecureRandom();

    private final SharedDirectory shared;
    private final long instance;
    private final Path own;
    private final AtomicInteger nextNumber = new AtomicInteger(1);
    /** Held until the process ends. */
    private final FileChannel lock;
    /** Event loops that may need the files. */
    private int users;
    /** Pieces of memory that are not given back. */
    private int blocks;
    /** Removes the files at the end of the JVM; there while there are event loops or memory, and {@code null} otherwise. */
    private Thread hook;
    private boolean ending;

    private ProcessDirectory(SharedDirectory shared) throws IOException {
        this.shared = shared;
        instance = RANDOM.nextLong();
        own = shared.ofProcess(instance);
        shared.createDirectory(own);
        lock = FileChannel.open(own.resolve(SharedDirectory.LOCK),
                Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), fileMode());
        if (lock.tryLock() == null) {
            throw new IOException("the lock of the new directory " + own + " is taken");
        }
        System.setProperty(SharedDirectory.propertyOf(own), shared.toString());
    }

    /**
     * The directory of this process; made when it is first asked for.
     *
     * @throws IOException if there cannot be one, or others could reach into it
     */
    static ProcessDirectory of(ShmSettings settings) throws IOException {
        synchronized (SharedDirectory.IN_THIS_JVM) {
            SharedDirectory shared = new SharedDirectory(settings);
            ProcessDirectory open = OPEN.get(shared.path());
            if (open == null) {
                open = ChannelTask.uninterrupted(() -> create(shared));
                OPEN.put(shared.path(), open);
                open.own.toFile().deleteOnExit(); // first, as what was named last is removed first
                open.own.resolve(SharedDirectory.LOCK).toFile().deleteOnExit();
            }
            return open;
        }
    }

    private static ProcessDirectory create(SharedDirectory shared) throws IOException {
        shared.create();
        FileChannel locked = shared.lock(SharedDirectory.OPENING_LIMIT_MILLIS);
        try {
            shared.shareLock();
            shared.removeDeadWithLock();
            return new ProcessDirectory(shared);
        } finally {
            locked.close();
        }
    }

    /** The mode of every file. */
    FileAttribute<?> fileMode() {
        return PosixFilePermissions.asFileAttribute(
                PosixFilePermissions.fromString(shared.othersMayRead() ? "rw-r-----" : "rw-------"));
    }

    /** Lets those who may connect do so: that takes the right to write to the socket, which is in this process's directory. */
    void share(Path socket) throws IOException {
        Files.setPosixFilePermissions(socket,
                shared.othersMayRead() ? SharedDirectory.SHARED_MODE : PosixFilePermissions.fromString("rw-------"));
    }

    /** Tells this process from all others that use the directory. */
    long instance() {
        return instance;
    }

    /** The user of this process. */
    UserPrincipal owner() throws IOException {
        return Files.getOwner(own, LinkOption.NOFOLLOW_LINKS);
    }

    SharedDirectory shared() {
        return shared;
    }

    /** A number for a new file, never given out before. */
    int newNumber() {
        int number = nextNumber.getAndIncrement();
        if (number < 0) {
            throw new IllegalStateException("this process has made 2^31 files");
        }
        return number;
    }

    /** The place of a file of this process. */
    Path file(char kind, int number) {
        return own.resolve(name(kind, number));
    }

    /** The place of a file of another process, or of this one. */
    Path file(long ofInstance, char kind, int number) {
        return shared.ofProcess(ofInstance).resolve(name(kind, number));
    }

    private static String name(char kind, int number) {
        return kind + Integer.toString(number);
    }

    /** Removes all files of this process, and the shared directory if no other process has any. Nobody uses them any more. */
    void forget() throws IOException {
        synchronized (SharedDirectory.IN_THIS_JVM) {
            if (OPEN.remove(shared.path(), this)) {
                lock.close();
                System.clearProperty(SharedDirectory.propertyOf(own));
                SharedDirectory.removeAll(own);
                SharedDirectory.removeAll(shared.path());
            }
        }
    }

    /** An event loop begins to use the files. */
    synchronized void use() {
        users++;
        addHook();
    }

    /** An event loop has ended. */
    synchronized void release() {
        users--;
        if (users == 0 && ending) {
            SharedDirectory.removeAll(own);
        }
        removeHook();
    }

    /** Memory is allocated. */
    synchronized void useMemory() {
        blocks++;
        addHook();
    }

    /** Memory was given back. */
    synchronized void releaseMemory() {
        blocks--;
        removeHook();
    }

    private void addHook() {
        if (hook == null && !ending) {
            hook = new Thread(this::endWithJvm, "netty-rdma-shm-files");
            try {
                Runtime.getRuntime().addShutdownHook(hook);
            } catch (IllegalStateException e) { // the JVM ends already
                ending = true;
            }
        }
    }

    /** It would keep the class loader of the library until the JVM ends. What is left then, the JVM removes by its name. */
    private void removeHook() {
        if (users == 0 && blocks == 0 && !ending) {
            try {
                Runtime.getRuntime().removeShutdownHook(hook);
                hook = null;
            } catch (IllegalStateException e) {
                LOGGER.debug("{} is removed by the end of the JVM", own);
            }
        }
    }

    /** A file that others map was made. */
    synchronized void created(Path file) {
        if (ending) {
            file.toFile().deleteOnExit();
        }
    }

    /**
     * From now on nobody finds this process, at the end of the JVM. Another hook may be waiting for the last answers of a server,
     * whose peers have not mapped yet what they need, so all else stays until no event loop is left. Those that nobody ends take
     * no time: the JVM removes their files when all hooks have run.
     */
    synchronized void end() {
        ending = true;
        if (users == 0) {
            SharedDirectory.removeAll(own);
            return;
        }
        try (DirectoryStream<Path> files = Files.newDirectoryStream(own)) {
            for (Path file : files) {
                char kind = file.getFileName().toString().charAt(0);
                if (kind == BoundSocket.KIND || kind == HostProof.KIND) {
                    Files.deleteIfExists(file);
                } else {
                    file.toFile().deleteOnExit();
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            LOGGER.debug("{} could not be removed: {}", own, e.toString());
        }
    }

    private void endWithJvm() {
        synchronized (SharedDirectory.IN_THIS_JVM) {
            end();
            shared.removeDead(); // links that led to this process
        }
    }

    @Override
    public String toString() {
        return own + (lock.isOpen() ? "" : " (closed)");
    }
}
