package org.nettyrdma.verbs.shm;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.security.SecureRandom;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
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

    private static final String LOCK = "lock";
    private static final String INSTANCE_PREFIX = "i";
    private static final String PORT_PREFIX = "port-";

    private static final Set<PosixFilePermission> SHARED_MODE = PosixFilePermissions.fromString("rw-rw----");

    /** Processes hold the lock for as long as it takes to remove files. Another user's could hold it for ever. */
    private static final int OPENING_LIMIT_MILLIS = 10_000;
    /** An event loop may have to wait so long when it binds. */
    static final int REMOVAL_LIMIT_MILLIS = 500;
    private static final int LOCK_RETRY_MILLIS = 2;

    private static final int SOON_MILLIS = 50;
    /** For a process that takes long to die. */
    private static final int LATER_MILLIS = 1000;

    /**
     * The beginning of the names of system properties. It is also the monitor of all that takes locks on files: constants of the
     * same characters are one object in the whole JVM, in which several class loaders may each have this class. It does not look
     * like the name of a class, which tools that pack jars change.
     */
    private static final String IN_THIS_JVM = "netty-rdma-shm-";

    private static final Map<Path, ProcessDirectory> OPEN = new HashMap<>();
    private static final SecureRandom RANDOM = new SecureRandom();

    private final Path shared;
    private final boolean othersMayRead;
    private final long instance;
    private final Path own;
    private final AtomicInteger removalRequests = new AtomicInteger();
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

    private ProcessDirectory(Path shared, boolean othersMayRead) throws IOException {
        this.shared = shared;
        this.othersMayRead = othersMayRead;
        instance = RANDOM.nextLong();
        own = path(instance);
        createDirectory(own, othersMayRead);
        lock = FileChannel.open(own.resolve(LOCK), Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), fileMode());
        if (lock.tryLock() == null) {
            throw new IOException("the lock of the new directory " + own + " is taken");
        }
        System.setProperty(propertyOf(own), shared.toString());
    }

    /** The property that says that a directory belongs to this JVM. */
    private static String propertyOf(Path directory) {
        return IN_THIS_JVM + directory.getFileName();
    }

    /** Not with fewer rights than this process, and the group where that may read, need. */
    private static void createDirectory(Path directory, boolean othersMayRead) throws IOException {
        Set<PosixFilePermission> wanted = PosixFilePermissions.fromString(othersMayRead ? "rwxr-x---" : "rwx------");
        Files.createDirectory(directory, PosixFilePermissions.asFileAttribute(wanted));
        Set<PosixFilePermission> mode = Files.getPosixFilePermissions(directory, LinkOption.NOFOLLOW_LINKS);
        if (!mode.containsAll(wanted)) {
            Files.deleteIfExists(directory);
            throw new IOException(directory + ": the umask of this process leaves it the mode "
                    + PosixFilePermissions.toString(mode) + " (expected: " + PosixFilePermissions.toString(wanted)
                    + (othersMayRead ? ", as with 0027, for " + ShmSettings.USERS_PROPERTY + ')' : ", as with 0077)"));
        }
    }

    /**
     * The directory of this process; made when it is first asked for.
     *
     * @throws IOException if there cannot be one, or others could reach into it
     */
    static ProcessDirectory of(ShmSettings settings) throws IOException {
        synchronized (IN_THIS_JVM) {
            Path shared = settings.directory().toAbsolutePath().normalize();
            ProcessDirectory open = OPEN.get(shared);
            if (open == null) {
                open = MappedFiles.uninterrupted(() -> create(shared, settings));
                OPEN.put(shared, open);
                open.own.toFile().deleteOnExit(); // first, as what was named last is removed first
                open.own.resolve(LOCK).toFile().deleteOnExit();
            }
            return open;
        }
    }

    private static ProcessDirectory create(Path shared, ShmSettings settings) throws IOException {
        createShared(shared, settings);
        FileChannel locked = lockShared(shared, OPENING_LIMIT_MILLIS);
        try {
            if (settings.othersMayRead()) {
                shareLock(shared);
            }
            removeDead(shared);
            return new ProcessDirectory(shared, settings.othersMayRead());
        } finally {
            locked.close();
        }
    }

    private static void createShared(Path shared, ShmSettings settings) throws IOException {
        try {
            createDirectory(shared, settings.othersMayRead());
        } catch (FileAlreadyExistsException e) {
            checkShared(shared, settings);
        } catch (FileSystemException e) { // which may say no more than the path
            throw new IOException(shared + " cannot be made: " + e + "; " + ShmSettings.DIRECTORY_PROPERTY
                    + " names another directory", e);
        }
    }

    /**
     * Whoever can put another directory in the place of a peer's could give us other memory than the peer's: the owner, and where
     * the sticky bit is missing all who may write.
     */
    private static void checkShared(Path shared, ShmSettings settings) throws IOException {
        UnixFile found = UnixFile.at(shared);
        if (!found.isDirectory()) {
            throw new IOException(shared + " is no directory; " + ShmSettings.DIRECTORY_PROPERTY + " names another one");
        }
        boolean othersMayRead = settings.othersMayRead();
        boolean trusted = found.userId() == ShmSettings.userId() || othersMayRead && (found.userId() == 0
                || settings.otherUsers().contains(Files.getOwner(shared, LinkOption.NOFOLLOW_LINKS)));
        if (!trusted || !found.isSafe(othersMayRead)) {
            throw new IOException(String.format("%s: mode %04o, owner %d (expected: %s); %s names another directory", shared,
                    found.rights(), found.userId(), othersMayRead ? "at most 3770, not 2770, and the user of this process, root"
                            + " or one of " + ShmSettings.USERS_PROPERTY : "0700 and the user of this process",
                    ShmSettings.DIRECTORY_PROPERTY));
        }
    }

    /** The mode of every file. */
    FileAttribute<?> fileMode() {
        return PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(othersMayRead ? "rw-r-----" : "rw-------"));
    }

    /**
     * Nobody creates or removes a directory of a process meanwhile; until the channel is closed.
     *
     * @throws IOException if another process has the lock for so long, or something else stands in its place
     */
    static FileChannel lockShared(Path shared, int limitMillis) throws IOException {
        Path file = shared.resolve(LOCK);
        FileChannel channel = openLock(file, limitMillis);
        try {
            long startNanos = System.nanoTime();
            while (channel.tryLock() == null) {
                if (System.nanoTime() - startNanos > TimeUnit.MILLISECONDS.toNanos(limitMillis)) {
                    throw new IOException(file + " has been locked by another process for " + limitMillis + " ms");
                }
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(LOCK_RETRY_MILLIS));
            }
            return channel;
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    /** The user who has made the file can take a lease on it, which holds up whoever opens it. */
    private static FileChannel openLock(Path file, int limitMillis) throws IOException {
        if (Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
            UnixFile found = UnixFile.at(file);
            if (!found.isPlain()) {
                throw new IOException(file + " is no plain file");
            }
            if (found.userId() != ShmSettings.userId()) {
                return OtherUsersFiles.open(file, found.userId(), UnixFile.AT_ONCE, limitMillis);
            }
        }
        return FileChannel.open(file, // at once, whatever is there by now, see UnixFile.AT_ONCE
                Set.of(StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    }

    /** Lets the group take the lock, too, whatever the umask says. */
    private static void shareLock(Path shared) throws IOException {
        Path file = shared.resolve(LOCK);
        if (ShmSettings.userId(file) == ShmSettings.userId()) {
            Files.getFileAttributeView(file, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
                    .setPermissions(SHARED_MODE);
        }
    }

    /** Lets those who may connect do so: that takes the right to write to the socket, which is in this process's directory. */
    void share(Path socket) throws IOException {
        Files.setPosixFilePermissions(socket, othersMayRead ? SHARED_MODE : PosixFilePermissions.fromString("rw-------"));
    }

    /** Tells this process from all others that use the directory. */
    long instance() {
        return instance;
    }

    /** The user of this process. */
    UserPrincipal owner() throws IOException {
        return Files.getOwner(own, LinkOption.NOFOLLOW_LINKS);
    }

    Path shared() {
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
        return path(ofInstance).resolve(name(kind, number));
    }

    private static String name(char kind, int number) {
        return kind + Integer.toString(number);
    }

    private Path path(long ofInstance) {
        return shared.resolve(INSTANCE_PREFIX + String.format("%016x", ofInstance));
    }

    /** The place of the link that leads to the socket of whoever listens at an address of this host. */
    Path port(String address, int port) {
        return shared.resolve(PORT_PREFIX + address + '-' + port);
    }

    /**
     * Removes the files of processes that have ended without doing so, when the system has had the time to take their locks away.
     * Another thread does so.
     */
    void removeDeadSoon() {
        if (removalRequests.getAndIncrement() == 0) {
            later(SOON_MILLIS, this::removeDeadTwice);
        }
    }

    private void removeDeadTwice() {
        int requests = removalRequests.get();
        removeDead();
        later(LATER_MILLIS, () -> {
            removeDead();
            if (!removalRequests.compareAndSet(requests, 0)) { // others have died meanwhile
                later(SOON_MILLIS, this::removeDeadTwice);
            }
        });
    }

    private static void later(int delayMillis, Runnable task) {
        CompletableFuture.delayedExecutor(delayMillis, TimeUnit.MILLISECONDS).execute(task);
    }

    /** Removes the files of processes that have ended without doing so. */
    void removeDead() {
        try {
            underLock(() -> {
                removeDead(shared);
                return null;
            });
        } catch (NoSuchFileException e) {
            LOGGER.debug("{} is not there any more", shared);
        } catch (IOException e) {
            LOGGER.warn("{}: could not look for files of processes that have ended: {}", shared, e.toString());
        }
    }

    /**
     * Runs a task while no other process that uses the directory runs one.
     *
     * @throws IOException if another process has the lock for too long, or the task throws it
     */
    <T> T underLock(MappedFiles.Task<T> task) throws IOException {
        synchronized (IN_THIS_JVM) {
            return MappedFiles.uninterrupted(() -> {
                FileChannel locked = lockShared(shared, REMOVAL_LIMIT_MILLIS);
                try {
                    return task.run();
                } finally {
                    locked.close();
                }
            });
        }
    }

    private static void removeDead(Path shared) throws IOException {
        try (DirectoryStream<Path> instances = Files.newDirectoryStream(shared, INSTANCE_PREFIX + '*')) {
            for (Path directory : instances) {
                if (System.getProperty(propertyOf(directory)) == null && isDead(directory)) {
                    removeAll(directory);
                }
            }
        }
        try (DirectoryStream<Path> ports = Files.newDirectoryStream(shared, PORT_PREFIX + '*')) {
            for (Path port : ports) {
                if (!Files.exists(port)) {
                    removeLink(port);
                }
            }
        }
    }

    private static void removeLink(Path port) {
        try {
            Files.deleteIfExists(port);
        } catch (IOException e) {
            LOGGER.debug("{} could not be removed: {}", port, e.toString()); // another user's, perhaps
        }
    }

    private static boolean isDead(Path directory) throws IOException {
        Path lock = directory.resolve(LOCK);
        try {
            UnixFile found = UnixFile.at(directory);
            if (!found.isDirectory() || found.userId() != ShmSettings.userId() || !UnixFile.at(lock).isPlain()) {
                return false; // of another user, or made by one to have other files removed
            }
        } catch (NoSuchFileException e) {
            return true; // nobody is creating it: that is done under the lock that we hold
        } catch (IOException e) {
            LOGGER.debug("{} is left alone: {}", directory, e.toString());
            return false;
        }
        try (FileChannel channel = FileChannel.open(lock, UnixFile.AT_ONCE);
                FileLock taken = channel.tryLock()) {
            return taken != null;
        } catch (OverlappingFileLockException e) {
            return false;
        } catch (NoSuchFileException e) {
            return true; // nobody is creating it: that is done under the lock that we hold
        } catch (IOException e) {
            LOGGER.debug("{} is left alone: {}", directory, e.toString()); // another user's, perhaps
            return false;
        }
    }

    /** Links are not followed, whenever they were put there. */
    private static void removeAll(Path directory) {
        try (DirectoryStream<Path> around = Files.newDirectoryStream(directory.getParent())) {
            SecureDirectoryStream<Path> parent = (SecureDirectoryStream<Path>) around; // on Linux they are
            try (SecureDirectoryStream<Path> files = parent.newDirectoryStream(directory.getFileName(),
                    LinkOption.NOFOLLOW_LINKS)) {
                for (Path file : files) {
                    removeFile(files, file);
                }
            }
            parent.deleteDirectory(directory.getFileName());
        } catch (NoSuchFileException e) {
            LOGGER.debug("{} is being removed by somebody else", directory);
        } catch (IOException | DirectoryIteratorException e) {
            LOGGER.debug("{} could not be removed: {}", directory, e.toString());
        }
    }

    /** One that cannot be removed, such as a directory that somebody has made there, keeps no memory but its own. */
    private static void removeFile(SecureDirectoryStream<Path> files, Path file) {
        try {
            files.deleteFile(file.getFileName());
        } catch (IOException e) {
            LOGGER.debug("{} could not be removed: {}", file, e.toString());
        }
    }

    /** Removes all files of this process, and the shared directory if no other process has any. Nobody uses them any more. */
    void forget() throws IOException {
        synchronized (IN_THIS_JVM) {
            if (OPEN.remove(shared, this)) {
                lock.close();
                System.clearProperty(propertyOf(own));
                removeAll(own);
                removeAll(shared);
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
            removeAll(own);
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
            removeAll(own);
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
        synchronized (IN_THIS_JVM) {
            end();
            removeDead(); // links that led to this process
        }
    }

    @Override
    public String toString() {
        return own + (lock.isOpen() ? "" : " (closed)");
    }
}
