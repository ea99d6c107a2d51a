package org.nettyrdma.example.nfs.server;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.nettyrdma.example.nfs.LocalNames;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks through the whole export, breadth first and without following links, for files whose names are not known: after a
 * restart, or because another process moved them. One walk remembers all that it passes, so that one serves many handles.
 * Clients cannot keep the server walking: the walks take at most an eleventh of the time, and in between the client is
 * told to come again later. Thread safe; one walk at a time.
 *
 * <p>A walk has the name lock for a few names at a time, so that nobody waits for its end. Whoever moves a directory meanwhile
 * tells it, and it knows directories by their files, not by their paths: so it comes by all that is there all the time.
 *
 * <p>Of a large directory it first looks at some names only, and at all when it has been everywhere else: else one such
 * directory would use up the names that a walk may look at, and all files of the others were stale.
 */
final class FileSearch {

    private static final Logger LOGGER = LoggerFactory.getLogger(FileSearch.class);

    private static final int REST_FACTOR = 10;
    private static final int MAX_GONE = 4096;
    /** How many names are looked at before others may have the name lock: some milliseconds. */
    private static final int NAMES_AT_ONCE = 100;
    /** How many names of a directory are looked at before other directories have their turn. */
    private static final int NAMES_AT_FIRST = 256;
    /** Enough for a walk through some thousand names; behind a longer one no threads are to wait. */
    private static final long MAX_WAIT_MILLIS = 100;
    private static final long LONG_WALK_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final FileTree tree;
    private final int maxEntries;
    /** Files that are not there, and whether they cannot come back. */
    private final Map<FileId, Boolean> gone = Collections.synchronizedMap(new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<FileId, Boolean> eldest) {
            return size() > MAX_GONE;
        }
    });
    /** Held by who walks; guards the two that follow. */
    private final ReentrantLock walking = new ReentrantLock();
    private long lastWalkEndNanos = System.nanoTime(); // a time may be negative, and far from 0
    private long restNanos;
    /** What the walk looks for, {@code null} when there is none; guarded by the name lock, as all that follows. */
    private FileId wanted;
    /** That, if the walk has come by or somebody has moved it. */
    private FileNode found;
    /** Those to look into. */
    private final Deque<FileNode> directories = new ArrayDeque<>();
    /** Those to look into behind all others, because they have many names. */
    private final Deque<FileNode> largeDirectories = new ArrayDeque<>();
    /** Those of both and the ones that were looked into. */
    private final Set<FileId> met = new HashSet<>();
    private boolean hasMoved;
    private boolean isLost;
    /**
     * Something could not be looked at for a reason that passes, such as no memory; it may be what the walk looks for. Guarded by
     * the turn of the walk.
     */
    private boolean isIncomplete;

    FileSearch(FileTree tree, int maxEntries) {
        this.tree = tree;
        this.maxEntries = maxEntries;
    }

    /**
     * Notes that a file is not there.
     *
     * @param forGood whether it was removed, which spares a walk for each of its handles that clients still have; what another
     *                process moved out of the export may be moved back
     */
    void gone(FileId id, boolean forGood) {
        gone.put(id, forGood);
    }

    /** Notes that a file is there, perhaps again. */
    void there(FileId id) {
        gone.remove(id);
    }

    boolean isGoneForGood(FileId id) {
        return Boolean.TRUE.equals(gone.get(id));
    }

    /** Notes that the server renamed a file, with the name lock alone: the walk might come by neither of its places. */
    void moved(FileNode file, boolean isDirectory) {
        if (wanted == null) {
            return;
        }
        if (file.id().equals(wanted)) {
            found = file;
        }
        if (isDirectory) {
            hasMoved = true;
            meet(file);
        }
    }

    /** Makes a file known that is there, or says that it is not. The caller has no lock. */
    void find(FileId id) throws IOException {
        AccessControl.require(isMyTurn(), NfsStatus.JUKEBOX);
        try {
            if (tree.withNames(() -> tree.atKnownName(id)) == null) { // else another walk has come by
                findByWalk(id);
            }
        } finally {
            walking.unlock();
        }
    }

    private boolean isMyTurn() {
        try {
            return walking.tryLock(MAX_WAIT_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private void findByWalk(FileId id) throws IOException {
        long startNanos = System.nanoTime();
        if (startNanos - lastWalkEndNanos < restNanos) {
            throw new NfsException(gone.containsKey(id) ? NfsStatus.STALE : NfsStatus.JUKEBOX);
        }
        try {
            int entries = walk(id);
            lastWalkEndNanos = System.nanoTime();
            long walkNanos = lastWalkEndNanos - startNanos;
            restNanos = REST_FACTOR * walkNanos;
            LOGGER.debug("looked at {} names for a handle whose file was not known", entries);
            if (walkNanos > LONG_WALK_NANOS) { // the rest keeps these lines few
                LOGGER.warn("looking through {} names for a handle whose file was not known took {} ms{}", entries,
                        TimeUnit.NANOSECONDS.toMillis(walkNanos),
                        entries < maxEntries ? "" : "; the export has more, and clients may find old handles stale");
            }
            tree.withNames(() -> conclude(id));
        } finally {
            tree.withNames(this::end);
        }
    }

    private int walk(FileId id) throws IOException {
        tree.withNames(() -> begin(id));
        int entries = 0;
        while (entries < maxEntries) {
            FileNode next = tree.withNames(directories::poll);
            boolean isFirst = next != null;
            FileNode directory = isFirst ? next : tree.withNames(this::nextLarge);
            if (directory == null) {
                break;
            }
            int limit = isFirst ? Math.min(NAMES_AT_FIRST, maxEntries - entries) : maxEntries - entries;
            int looked = lookInto(directory, limit);
            if (isFirst && looked == limit) {
                tree.withNames(() -> largeDirectories.add(directory));
            }
            entries += looked;
        }
        return entries;
    }

    /** Those only where the others do not have what the walk looks for: a walk through them has a long rest behind it. */
    private FileNode nextLarge() {
        return found == null ? largeDirectories.poll() : null;
    }

    private void begin(FileId id) throws IOException {
        wanted = id;
        FileObject root = tree.rootOrNull();
        if (root != null) {
            meet(root.node());
        }
    }

    private void end() {
        wanted = null;
        found = null;
        directories.clear();
        largeDirectories.clear();
        met.clear();
        hasMoved = false;
        isLost = false;
        isIncomplete = false;
    }

    private void meet(FileNode directory) {
        if (met.add(directory.id())) {
            directories.add(directory);
        }
    }

    private void conclude(FileId id) throws IOException {
        if (found != null) {
            tree.keep(found); // the names behind it may have been more than are remembered
        }
        if (tree.atKnownName(id) == null) {
            // A directory that was moved, and that others made the server forget, could not be looked into.
            AccessControl.require(!isIncomplete && (!hasMoved || !isLost), NfsStatus.JUKEBOX);
            boolean isSeenMeanwhile = !tree.notFound(id) && tree.atKnownName(id) != null; // by another call, behind the walk
            AccessControl.require(isSeenMeanwhile, NfsStatus.STALE);
        }
    }

    private int lookInto(FileNode directory, int limit) {
        int entries = 0;
        try (DirectoryStream<Path> paths = tree.withNames(() -> open(directory))) {
            Iterator<Path> left = paths == null ? Collections.emptyIterator() : paths.iterator();
            while (entries < limit && left.hasNext()) {
                List<String> names = new ArrayList<>();
                while (names.size() < Math.min(NAMES_AT_ONCE, limit - entries) && left.hasNext()) {
                    names.add(LocalNames.nameOf(left.next()));
                }
                entries += names.size();
                tree.withNames(() -> lookAt(directory, names));
            }
        } catch (IOException | DirectoryIteratorException e) {
            // Removed meanwhile, or this process may not read it; what is in it is not found.
            isIncomplete |= NfsErrors.statusOf(e) == NfsStatus.JUKEBOX;
            LOGGER.debug("cannot look into a directory", e);
        }
        return entries;
    }

    private DirectoryStream<Path> open(FileNode directory) throws IOException {
        FileObject now = now(directory);
        return now == null ? null : Files.newDirectoryStream(now.path());
    }

    /** Finds a directory where it is by now. */
    private FileObject now(FileNode directory) throws IOException {
        FileObject now = tree.atKnownName(directory);
        if (now == null) {
            now = tree.atKnownName(directory.id()); // forgotten, and moved then
        }
        isLost |= now == null && !isGoneForGood(directory.id());
        return now;
    }

    private void lookAt(FileNode directory, List<String> names) throws IOException {
        FileObject now = now(directory);
        for (String name : now == null ? List.<String>of() : names) {
            try {
                lookAt(now, name);
            } catch (IOException e) {
                // Such as a mount point whose server is gone; it does not hide the names behind it.
                isIncomplete |= NfsErrors.statusOf(e) == NfsStatus.JUKEBOX;
                LOGGER.debug("cannot look at a file", e);
            }
        }
    }

    private void lookAt(FileObject directory, String name) throws IOException {
        Path path = LocalNames.child(directory.path(), name);
        FileStatus status = tree.readOrNull(path);
        if (status == null) {
            return;
        }
        FileNode file = tree.seen(directory.node(), name, path, status).node();
        if (status.id().equals(wanted)) {
            found = file;
        }
        if (status.attributes().isDirectory()) {
            meet(file);
        }
    }
}
