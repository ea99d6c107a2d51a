package org.nettyrdma.example.nfs.server;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.nettyrdma.example.nfs.LocalNames;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks through the whole export, breadth first and without following links, for files whose names are not known: after a
 * restart, or because another process moved them. One walk remembers all that it passes, so that one serves many handles.
 * Clients cannot keep the server walking: the walks take at most an eleventh of the time, and in between the client is
 * told to come again later. Thread safe; one walk at a time.
 */
final class FileSearch {

    private static final Logger LOGGER = LoggerFactory.getLogger(FileSearch.class);

    private static final int REST_FACTOR = 10;
    private static final int MAX_GONE = 4096;

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
    /** What the walk was for, if it has come by; guarded by this, as what follows. */
    private FileObject found;
    private long lastWalkEndNanos;
    private long restNanos;

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

    FileObject find(FileId id) throws IOException {
        AccessControl.require(!Boolean.TRUE.equals(gone.get(id)), NfsStatus.STALE);
        FileObject found = walkFor(id);
        if (found == null && !tree.notFound(id)) {
            found = tree.atKnownName(id); // another call has seen it behind the walk
        }
        AccessControl.require(found != null, NfsStatus.STALE);
        return found;
    }

    private synchronized FileObject walkFor(FileId id) throws IOException {
        FileObject foundMeanwhile = tree.atKnownName(id);
        if (foundMeanwhile != null) {
            return foundMeanwhile;
        }
        long startNanos = System.nanoTime();
        if (startNanos - lastWalkEndNanos < restNanos) {
            throw new NfsException(gone.containsKey(id) ? NfsStatus.STALE : NfsStatus.JUKEBOX);
        }
        int entries = walk(id);
        lastWalkEndNanos = System.nanoTime();
        restNanos = REST_FACTOR * (lastWalkEndNanos - startNanos);
        LOGGER.debug("looked at {} names for a handle whose file was not known", entries);
        FileObject known = tree.atKnownName(id);
        return known != null || found == null ? known : seenAgain(found);
    }

    /** The names behind a file may have been more than are remembered. */
    private FileObject seenAgain(FileObject file) throws IOException {
        FileStatus status = tree.readOrNull(file.path());
        List<FileNode.Name> names = file.node().names(); // none, if another process has moved it away and back
        if (status == null || !status.id().equals(file.node().id()) || names.isEmpty()) {
            return null;
        }
        return tree.seen(names.get(0).directory(), names.get(0).name(), file.path(), status);
    }

    private int walk(FileId wanted) throws IOException {
        int entries = 0;
        found = null;
        Deque<FileObject> directories = new ArrayDeque<>();
        FileObject root = tree.rootOrNull();
        if (root != null) {
            directories.add(root);
        }
        while (!directories.isEmpty() && entries < maxEntries) {
            entries += lookInto(directories.remove(), maxEntries - entries, directories, wanted);
        }
        return entries;
    }

    private int lookInto(FileObject directory, int limit, Deque<FileObject> directories, FileId wanted) {
        int entries = 0;
        try (DirectoryStream<Path> paths = Files.newDirectoryStream(directory.path())) {
            for (Path path : paths) {
                if (entries++ == limit) {
                    break;
                }
                FileStatus status = tree.readOrNull(path);
                if (status != null) {
                    FileObject file = tree.seen(directory.node(), LocalNames.nameOf(path), path, status);
                    if (status.id().equals(wanted)) {
                        found = file;
                    }
                    if (status.attributes().isDirectory()) {
                        directories.add(file);
                    }
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            // Removed meanwhile, or this process may not read it; what is in it is not found.
            LOGGER.debug("cannot look into {}", directory.path(), e);
        }
        return entries;
    }
}
