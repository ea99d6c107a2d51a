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
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The directory that the processes of one host share. In it each process has a directory of its own, with a lock that it holds as
 * long as it lives, see {@link ProcessDirectory}; and there are links that lead to those who listen. Who has the lock of the
 * shared directory makes and removes all these, so nobody removes what another one is making. Safe for use from any thread.
 */
final class SharedDirectory {

    private static final Logger LOGGER = LoggerFactory.getLogger(SharedDirectory.class);

    /** The name of each lock. */
    static final String LOCK = "lock";
    private static final String INSTANCE_PREFIX = "i";
    private static final String PORT_PREFIX = "port-";

    /** Of what the group may use, too. */
    static final Set<PosixFilePermission> SHARED_MODE = PosixFilePermissions.fromString("rw-rw----");

    /** Processes hold the lock for as long as it takes to remove files. Another user's could hold it for ever. */
    static final int OPENING_LIMIT_MILLIS = 10_000;
    /** An event loop may have to wait so long when it binds. */
    private static final int REMOVAL_LIMIT_MILLIS = 500;
    private static final int LOCK_RETRY_MILLIS = 2;

    private static final int SOON_MILLIS = 50;
    /** For a process that takes long to die. */
    private static final int LATER_MILLIS = 1000;

    /**
     * The beginning of the names of system properties. It is also the monitor of all that takes locks on files: constants of the
     * same characters are one object in the whole JVM, in which several class loaders may each have this class. It does not look
     * like the name of a class, which tools that pack jars change.
     */
    static final String IN_THIS_JVM = "netty-rdma-shm-";

    private final Path path;
    private final ShmSettings settings;
    private final AtomicInteger removalRequests = new AtomicInteger();

    SharedDirectory(ShmSettings settings) {
        this.settings = settings;
        path = settings.directory().toAbsolutePath().normalize();
    }

    Path path() {
        return path;
    }

    boolean othersMayRead() {
        return settings.othersMayRead();
    }

    /** The property that says that the directory of a process belongs to this JVM. */
    static String propertyOf(Path directory) {
        return IN_THIS_JVM + directory.getFileName();
    }

    /** The place of the directory of a process. */
    Path ofProcess(long instance) {
        return path.resolve(INSTANCE_PREFIX + String.format("%016x", instance));
    }

    /** The place of the link that leads to the socket of whoever listens at an address of this host. */
    Path port(String address, int port) {
        return path.resolve(PORT_PREFIX + address + '-' + port);
    }

    /**
     * Makes it, unless it is there.
     *
     * @throws IOException if there cannot be one, or others could reach into it
     */
    void create() throws IOException {
        try {
            createDirectory(path);
        } catch (FileAlreadyExistsException e) {
            check();
        } catch (FileSystemException e) { // which may say no more than the path
            throw new IOException(path + " cannot be made: " + e + "; " + ShmSettings.DIRECTORY_PROPERTY
                    + " names another directory", e);
        }
    }

    /**
     * Whoever can put another directory in the place of a peer's could give us other memory than the peer's: the owner, and where
     * the sticky bit is missing all who may write.
     */
    private void check() throws IOException {
        UnixFile found = UnixFile.at(path);
        if (!found.isDirectory()) {
            throw new IOException(path + " is no directory; " + ShmSettings.DIRECTORY_PROPERTY + " names another one");
        }
        boolean trusted = found.userId() == ShmSettings.userId() || othersMayRead() && (found.userId() == 0
                || settings.otherUsers().contains(Files.getOwner(path, LinkOption.NOFOLLOW_LINKS)));
        if (!trusted || !found.isSafe(othersMayRead())) {
            throw new IOException(String.format("%s: mode %04o, owner %d (expected: %s); %s names another directory", path,
                    found.rights(), found.userId(), othersMayRead() ? "at most 3770, not 2770, and the user of this process, root"
                            + " or one of " + ShmSettings.USERS_PROPERTY : "0700 and the user of this process",
                    ShmSettings.DIRECTORY_PROPERTY));
        }
        if (!Files.isReadable(path) || !Files.isWritable(path) || !Files.isExecutable(path)) { // by its group, for example
            throw new IOException(path + ": this process may not read, write and search it"
                    + (othersMayRead() ? ", which takes the group of the directory" : "") + "; "
                    + ShmSettings.DIRECTORY_PROPERTY + " names another directory");
        }
    }

    /** Not with fewer rights than this process, and the group where that may read, need. */
    void createDirectory(Path directory) throws IOException {
        Set<PosixFilePermission> wanted = PosixFilePermissions.fromString(othersMayRead() ? "rwxr-x---" : "rwx------");
        Files.createDirectory(directory, PosixFilePermissions.asFileAttribute(wanted));
        Set<PosixFilePermission> mode = Files.getPosixFilePermissions(directory, LinkOption.NOFOLLOW_LINKS);
        if (!mode.containsAll(wanted)) {
            Files.deleteIfExists(directory);
            throw new IOException(directory + ": the umask of this process leaves it the mode "
                    + PosixFilePermissions.toString(mode) + " (expected: " + PosixFilePermissions.toString(wanted)
                    + (othersMayRead() ? ", as with 0027, for " + ShmSettings.USERS_PROPERTY + ')' : ", as with 0077)"));
        }
    }

    /**
     * Nobody creates or removes a directory of a process meanwhile; until the channel is closed.
     *
     * @throws IOException if another process has the lock for so long, or something else stands in its place
     */
    FileChannel lock(int limitMillis) throws IOException {
        Path file = path.resolve(LOCK);
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

    /** Lets the group take the lock, too, where it may read, whatever the umask says. */
    void shareLock() throws IOException {
        Path file = path.resolve(LOCK);
        if (settings.othersMayRead() && ShmSettings.userId(file) == ShmSettings.userId()) {
            Files.getFileAttributeView(file, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
                    .setPermissions(SHARED_MODE);
        }
    }

    /**
     * Removes the files of processes that have ended without doing so, when the system has had the time to take their locks away.
     * Another thread does so. Where it fails, for want of heap for instance, the next request begins anew.
     */
    void removeDeadSoon() {
        if (removalRequests.getAndIncrement() == 0) {
            try {
                later(SOON_MILLIS, this::removeDeadTwice);
            } catch (RuntimeException | Error e) {
                removalRequests.set(0);
                throw e;
            }
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

    private void later(int delayMillis, Runnable task) {
        CompletableFuture.delayedExecutor(delayMillis, TimeUnit.MILLISECONDS).execute(() -> {
            try {
                task.run();
            } catch (RuntimeException | Error e) {
                removalRequests.set(0);
                throw e;
            }
        });
    }

    /** Removes the files of processes that have ended without doing so. */
    void removeDead() {
        try {
            underLock(() -> {
                removeDeadWithLock();
                return null;
            });
        } catch (NoSuchFileException e) {
            LOGGER.debug("{} is not there any more", path);
        } catch (IOException e) {
            LOGGER.warn("{}: could not look for files of processes that have ended: {}", path, e.toString());
        }
    }

    /**
     * Runs a task while no other process that uses the directory runs one.
     *
     * @throws IOException if another process has the lock for too long, or the task throws it
     */
    <T> T underLock(ChannelTask<T> task) throws IOException {
        synchronized (IN_THIS_JVM) {
            return ChannelTask.uninterrupted(() -> {
                FileChannel locked = lock(REMOVAL_LIMIT_MILLIS);
                try {
                    return task.run();
                } finally {
                    locked.close();
                }
            });
        }
    }

    void removeDeadWithLock() throws IOException {
        try (DirectoryStream<Path> instances = Files.newDirectoryStream(path, INSTANCE_PREFIX + '*')) {
            for (Path directory : instances) {
                if (System.getProperty(propertyOf(directory)) == null && isDead(directory)) {
                    removeAll(directory);
                }
            }
        }
        try (DirectoryStream<Path> ports = Files.newDirectoryStream(path, PORT_PREFIX + '*')) {
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

    private static boolean isDead(Path directory) {
        Path lock = directory.resolve(LOCK);
        try {
            UnixFile found = UnixFile.at(directory);
            if (!found.isDirectory() || found.userId() != ShmSettings.userId() || !UnixFile.at(lock).isPlain()) {
                return false; // of another user, or made by one to have other files removed
            }
            try (FileChannel channel = FileChannel.open(lock, UnixFile.AT_ONCE); FileLock taken = channel.tryLock()) {
                return taken != null;
            }
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
    static void removeAll(Path directory) {
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

    @Override
    public String toString() {
        return path.toString();
    }
}
