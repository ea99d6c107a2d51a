package org.nettyrdma.example.nfs.server;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;
import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;

import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.attribute.FileAttribute;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedList;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.nettyrdma.example.nfs.protocol.FileType;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Files kept open between calls, because clients read and write a file with many calls and never say that they are done. A
 * bounded number, the one used longest ago leaves first, or is left by its last user. Each call closes what it made leave once
 * it has no lock. Reading and writing use separate channels, as the process may be allowed only one of them. Thread safe: the
 * monitor guards the map and the counters in {@link OpenFile}; files are opened and closed outside of it.
 */
final class OpenFiles implements AutoCloseable {

    /** Opens and creates files, without following a symbolic link. */
    interface Opener {
        FileChannel open(Path path, OpenOption how) throws IOException;

        default FileChannel create(Path path, FileAttribute<?>... attributes) throws IOException {
            return FileChannel.open(path, Set.of(CREATE_NEW, WRITE, NOFOLLOW_LINKS), attributes);
        }

        /** Opens what has a name in a directory, wherever that directory is by now. */
        default Closeable openIn(SecureDirectoryStream<Path> directory, Path name, OpenOption how) throws IOException {
            return directory.newByteChannel(name, Set.of(how, NOFOLLOW_LINKS));
        }
    }

    /** A file open in one way. */
    private record Key(FileId id, boolean forWriting) {
    }

    /** Where a file is to be opened, whatever happens to the names on the way there. Counted until it is closed. */
    private record Place(FileId file, SecureDirectoryStream<Path> directory, Path name, AtomicInteger places)
            implements Closeable {
        @Override
        public void close() {
            closeUnused(directory);
            places.decrementAndGet();
        }
    }

    /** How long a call waits for another one that opens the same file, which has to wait itself if this is not enough. */
    private static final long MAX_WAIT_MILLIS = 500;

    private static final Logger LOGGER = LoggerFactory.getLogger(OpenFiles.class);

    private final FaultLog faults = new FaultLog(LOGGER);
    private final FileTree tree;
    private final WriteVerifier verifier;
    private final Opener opener;
    private final int maxFiles;
    private final long idleNanos;
    private final Map<Key, OpenFile> files = new LinkedHashMap<>(16, 0.75f, true);
    /** Those that this thread made be kept no longer, or was the last to use, see {@link #closeEvicted}. */
    private final ThreadLocal<Queue<OpenFile>> toClose = ThreadLocal.withInitial(LinkedList::new);
    /** How many files are being opened with no lock of names, see {@link #requireMovable}. Goes up with that lock shared. */
    private final AtomicInteger places = new AtomicInteger();
    /** Held by who waits for a lease of a file. */
    private final FileLocks leases = new FileLocks();
    /** Shared by who forces a file, see {@link #force}. */
    private final FileLocks forces = new FileLocks();

    OpenFiles(FileTree tree, WriteVerifier verifier, int maxFiles, long idleMillis) {
        this(tree, verifier, maxFiles, idleMillis, (path, how) -> FileChannel.open(path, how, NOFOLLOW_LINKS));
    }

    OpenFiles(FileTree tree, WriteVerifier verifier, int maxFiles, long idleMillis, Opener opener) {
        this.tree = tree;
        this.verifier = verifier;
        this.opener = opener;
        this.maxFiles = maxFiles;
        idleNanos = TimeUnit.MILLISECONDS.toNanos(idleMillis);
    }

    /**
     * Does something that opens a file with the name lock, where that waits for no other process. One that has a lease of the
     * file (fcntl(2), F_SETLEASE) may keep others from opening it for 45 seconds. So the file is opened before without that
     * lock, and stays open meanwhile: nobody gets such a lease then. What has come into the place of the file is opened so, too,
     * but nothing is done with it. One call waits for a file, so that many take no more threads.
     *
     * @param caller of whose call this is; nobody waits for a file that the caller may neither read nor write
     * @param step   what is to be done; the caller has no lock
     * @throws NfsException JUKEBOX if another call waits for the file
     */
    <T> T withoutLease(FileId id, boolean forWriting, Credentials caller, NfsCall.Step<T> step) throws IOException {
        Closeable opened = isOpen(id, forWriting) ? null : awaitLease(id, forWriting, caller);
        try {
            return step.run();
        } finally {
            closeUnused(opened);
        }
    }

    void withoutLease(FileId id, boolean forWriting, Credentials caller, NfsCall.Action action) throws IOException {
        withoutLease(id, forWriting, caller, () -> {
            action.run();
            return null;
        });
    }

    /**
     * Does something that takes a name of a file away, with the name lock. The file is open until that is done: the system frees
     * the blocks of a file without a name when nobody has it open any more, which takes minutes where they are many and apart. So
     * this call does that, without the lock. What this process may neither read nor write cannot be kept so.
     *
     * @param find finds the file, with the name lock shared; {@code null} if there is none. How it fails is of no consequence
     * @param step what is to be done; the caller has no lock
     * @throws NfsException JUKEBOX if another call waits for a lease of the file
     */
    void withBlocks(NfsCall.Step<FileObject> find, NfsCall.Action step) throws IOException {
        Closeable opened = openAny(find);
        try {
            step.run();
        } finally {
            closeUnused(opened);
        }
    }

    private Closeable openAny(NfsCall.Step<FileObject> find) throws NfsException {
        Closeable found;
        try {
            found = tree.withNames(() -> openOrPlace(find.run()));
        } catch (IOException | RuntimeException e) {
            return null; // who takes the name finds that, too, and knows how to answer it
        }
        if (!(found instanceof Place place)) {
            return found;
        }
        try (place) {
            Closeable read = openAlone(place, READ);
            return read != null ? read : openAlone(place, WRITE);
        }
    }

    private Closeable openOrPlace(FileObject file) throws IOException {
        if (file == null || file.attributes().type() != FileType.REGULAR) {
            return null;
        }
        OpenFile writing = useOrNull(new Key(file.node().id(), true));
        OpenFile known = writing != null ? writing : useOrNull(new Key(file.node().id(), false));
        return known != null ? known : placeOf(file);
    }

    private static void closeUnused(Closeable opened) {
        try {
            if (opened != null) {
                opened.close();
            }
        } catch (IOException e) {
            LOGGER.debug("closing what nobody has used", e);
        }
    }

    private Closeable awaitLease(FileId id, boolean forWriting, Credentials caller) throws IOException {
        try (Place place = tree.withNames(() -> placeOf(id, forWriting, caller))) {
            return place == null ? null : openAlone(place, forWriting ? WRITE : READ);
        }
    }

    private Closeable openAlone(Place place, OpenOption how) throws NfsException {
        FileLocks.Held waiting = leases.exclusiveWithin(place.file(), MAX_WAIT_MILLIS);
        AccessControl.require(waiting != null, NfsStatus.JUKEBOX);
        try {
            return opener.openIn(place.directory(), place.name(), how);
        } catch (IOException | RuntimeException e) {
            return null; // who uses the file finds that, too, and knows how to answer it
        } finally {
            waiting.release();
        }
    }

    private synchronized boolean isOpen(FileId id, boolean forWriting) {
        return files.containsKey(new Key(id, true)) || !forWriting && files.containsKey(new Key(id, false));
    }

    /** Where a file is, or {@code null} if it is not known, or cannot be opened there, or the caller may not use it so. */
    private Place placeOf(FileId id, boolean forWriting, Credentials caller) {
        try {
            FileObject file = tree.atKnownName(id);
            if (file == null || file.attributes().type() != FileType.REGULAR) {
                return null;
            }
            if (forWriting || !AccessControl.mayReadData(caller, file.attributes())) {
                AccessControl.requireWriteData(caller, file.attributes()); // who may write may also set the times
            }
            return placeOf(file);
        } catch (IOException e) {
            LOGGER.trace("the file cannot be opened without the name lock", e);
        }
        return null;
    }

    private Place placeOf(FileObject file) throws IOException {
        DirectoryStream<Path> directory = Files.newDirectoryStream(file.path().getParent());
        if (directory instanceof SecureDirectoryStream<Path> secure) {
            Place place = new Place(file.node().id(), secure, file.path().getFileName(), places);
            places.incrementAndGet();
            return place;
        }
        directory.close();
        return null;
    }

    /**
     * Lets no pipe and no device get another name while a file is opened without the name lock: it could come into the place of
     * that file. To open a pipe is to wait for its other end, which may never come. The caller has the name lock alone.
     *
     * @throws NfsException JUKEBOX if the file is one of them, and another is being opened so
     */
    void requireMovable(FileObject file) throws NfsException {
        AccessControl.require(!file.isSpecial() || places.get() == 0, NfsStatus.JUKEBOX);
    }

    /**
     * Opens a file of which {@link AccessControl} has allowed that. Where its mode keeps this process from it all the same, which
     * owns it, its mode is another one meanwhile: the owner may read and write what clients have open, whatever its mode has
     * become (RFC 1813, section 4.4). That takes the name lock alone.
     *
     * @throws AccessDeniedException if this process may not open the file, or that takes the name lock alone
     */
    OpenFile forReading(FileObject file) throws IOException {
        return acquireAsOwner(file, new Key(file.node().id(), false), AttributeStore.OWNER_READ);
    }

    /** The same for writing. */
    OpenFile forWriting(FileObject file) throws IOException {
        return acquireAsOwner(file, new Key(file.node().id(), true), AttributeStore.OWNER_WRITE);
    }

    private OpenFile acquireAsOwner(FileObject file, Key key, int ownerBit) throws IOException {
        try {
            return acquire(file, key);
        } catch (AccessDeniedException e) {
            if (!tree.hasNamesAlone()) {
                throw e;
            }
            try {
                return tree.store().withOwnerBit(file.path(), ownerBit, e, () -> acquire(file, key));
            } catch (FileSystemException notOwner) {
                throw NfsErrors.statusOf(notOwner) == NfsStatus.PERM ? e : notOwner;
            }
        }
    }

    private OpenFile acquire(FileObject file, Key key) throws IOException {
        OpenFile known = useOrNull(key);
        return known != null ? known : add(key, open(file, key.forWriting()));
    }

    private synchronized OpenFile useOrNull(Key key) {
        OpenFile known = files.get(key);
        if (known == null || !known.channel().isOpen()) {
            return null;
        }
        known.use();
        return known;
    }

    /**
     * Opens a file or a directory to force what happens to it next. Returns {@code null} for what this process may not read, and
     * for links and special files: Java opens none, or that does something.
     */
    OpenFile toForce(FileObject file) throws IOException {
        FileType type = file.attributes().type();
        if (type != FileType.REGULAR && type != FileType.DIRECTORY) {
            return null;
        }
        OpenFile writing = useOrNull(new Key(file.node().id(), true));
        try {
            return writing != null ? writing : acquire(file, new Key(file.node().id(), false));
        } catch (IOException e) {
            NfsStatus status = NfsErrors.statusOf(e);
            if (status == NfsStatus.ACCES || status == NfsStatus.PERM) {
                return null;
            }
            throw e;
        }
    }

    /**
     * Makes a file stable. The operating system may tell only one of two calls that do so at once of what it lost; so this
     * returns after those that began before it had done, and a failure of theirs has changed the verifier.
     */
    void force(OpenFile file, boolean attributesToo) throws IOException {
        FileLocks.Held shared = forces.shared(file.id());
        try {
            file.channel().force(attributesToo);
        } catch (IOException e) {
            if (!cannotForce(e)) {
                verifier.change();
            }
            throw e;
        } finally {
            shared.release();
        }
        forces.exclusive(file.id()).release();
    }

    /** The same where the file system can do that: the Linux server, too, ignores that one cannot with a directory. */
    void forceIfPossible(OpenFile file) throws IOException {
        try {
            force(file, true);
        } catch (IOException e) {
            if (!cannotForce(e)) {
                throw e;
            }
            LOGGER.trace("the file system cannot force this", e);
        }
    }

    /** Whether the file system says that it cannot make this stable, rather than that it has failed. */
    static boolean cannotForce(IOException failure) {
        NfsStatus status = NfsErrors.statusOf(failure);
        return status == NfsStatus.INVAL || status == NfsStatus.NOTSUPP; // the latter from a file system in user space
    }

    /** Creates a file for writing, for {@link #adopt}. */
    FileChannel create(Path path, FileAttribute<?>... attributes) throws IOException {
        return opener.create(path, attributes);
    }

    /**
     * Takes over the channel that created a file. The client writes to it next, and where its mode allows nobody to
     * write, this process could not open it again.
     */
    void adopt(FileObject file, FileChannel forWriting) {
        add(new Key(file.node().id(), true), forWriting).close();
    }

    private OpenFile add(Key key, FileChannel channel) {
        OpenFile opened = new OpenFile(this, key.id(), channel);
        synchronized (this) {
            opened.use();
            evict(files.put(key, opened)); // there is one if two calls opened the file at once
            Iterator<OpenFile> eldest = files.values().iterator();
            while (files.size() > maxFiles) {
                evict(eldest.next());
                eldest.remove();
            }
        }
        return opened;
    }

    private FileChannel open(FileObject file, boolean forWriting) throws IOException {
        FileChannel channel = opener.open(file.path(), forWriting ? WRITE : READ);
        try {
            // A directory on the way may have been replaced by a link after it was looked at.
            AccessControl.require(tree.isStillThere(file), NfsStatus.STALE);
        } catch (IOException e) {
            channel.close();
            throw e;
        }
        return channel;
    }

    synchronized void release(OpenFile file) {
        if (file.unuse(System.nanoTime())) {
            toClose.get().add(file);
        }
    }

    /** Keeps a file that was removed no longer. */
    void evict(FileId id) {
        evictIf(entry -> entry.getKey().id().equals(id));
    }

    void closeIdle() {
        long nowNanos = System.nanoTime();
        evictIf(entry -> entry.getValue().isIdle(nowNanos, idleNanos));
        closeEvicted();
    }

    /**
     * Closes the files that this thread made be kept no longer, and that nobody uses. That may take long: a file system of a
     * network writes back what it has of them, and others free the blocks of a removed one. So the caller has no lock, and the
     * call of nobody else waits for it.
     */
    void closeEvicted() {
        Queue<OpenFile> own = toClose.get();
        for (OpenFile file = own.poll(); file != null; file = own.poll()) {
            closeChannel(file);
        }
    }

    /** Closes all, those in use later, so that what a call found no descriptor for can be opened when it is repeated. */
    void makeRoom(Exception failure) {
        faults.warn("a call for which no file descriptor was left", failure);
        close();
    }

    synchronized int size() {
        return files.size();
    }

    @Override
    public void close() {
        evictIf(entry -> true);
        closeEvicted();
    }

    private synchronized void evictIf(Predicate<Map.Entry<Key, OpenFile>> condition) {
        files.entrySet().removeIf(entry -> {
            boolean matches = condition.test(entry);
            if (matches) {
                evict(entry.getValue());
            }
            return matches;
        });
    }

    private void evict(OpenFile file) {
        if (file != null && file.evict()) {
            toClose.get().add(file);
        }
    }

    private void closeChannel(OpenFile file) {
        try {
            file.channel().close();
        } catch (IOException | RuntimeException | Error e) { // whatever it is, the others are to be closed, now and next time
            verifier.change(); // file systems of a network tell only now what they could not write
            faults.warn("closing a file", e);
        }
    }
}
