package org.nettyrdma.example.nfs.server;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;

/**
 * Tells whether a directory is inside of the export, whatever links other processes put on the way to it. Thread safe.
 *
 * <p>The directory as many levels above it as its path has names must be the root. The system finds that by the parents of the
 * directory, not by the names in the path, so no link can pretend it; one may be on the way that leads to the same level of
 * the export. Where a path has no room for all levels up, it goes on from the directory that it has come to.
 *
 * <p>Else, and for paths of few names, the real path is asked for. For that the system looks at each name on the way, each time
 * from the start: 2 microseconds in a depth of 4, but 33 ms in one of 900 and four times as long in twice the depth.
 */
final class Places {

    /** Of Linux; where a system takes less, it says so, and gets less. */
    private static final int MAX_PATH_BYTES = 4095;
    private static final String UP = "../";
    /** Up to here the real path costs less than the looks at the root and at the directory above. */
    private static final int FEW_NAMES = 20;

    private final Path root;
    private final AttributeStore store;

    /** @param root a real path */
    Places(Path root, AttributeStore store) {
        this.root = root;
        this.store = store;
    }

    /** Whether a directory, whose path begins with that of the root, is inside of the export. */
    boolean isInside(Path directory) throws IOException {
        boolean isFar = directory.getNameCount() > FEW_NAMES && store.knowsParents();
        return isFar && isReal(root) && isBelowRoot(directory) || isReal(directory);
    }

    /** Whether a directory is where its path says, with no symbolic link on the way. */
    boolean isReal(Path directory) throws IOException {
        try {
            return directory.toRealPath().equals(directory);
        } catch (AccessDeniedException e) {
            throw e;
        } catch (FileSystemException e) {
            return false; // not there, or something else than a directory is on the way
        }
    }

    /** Whether the parents of a directory lead to the root; {@code false} when in doubt. */
    boolean isBelowRoot(Path directory) throws IOException {
        try {
            Path at = directory;
            int levels = MAX_PATH_BYTES;
            while (depth(at) > 0) {
                int room = (MAX_PATH_BYTES - at.toString().length()) / UP.length();
                levels = Math.min(2 * levels, Math.min(room, depth(at))); // there is more room than last time
                FileId ancestor = ancestorOrNull(at, levels);
                while (levels > 1 && ancestor == null) {
                    levels /= 2;
                    ancestor = ancestorOrNull(at, levels);
                }
                levels = Math.max(1, levels);
                Path above = above(at, levels);
                // Where there is no room at all: what is no link is in the directory that the rest of the path leads to.
                boolean isBelow = ancestor == null ? store.read(at).attributes().isDirectory()
                        : ancestor.equals(store.read(above).id());
                if (!isBelow) {
                    return false;
                }
                at = above;
            }
            return true;
        } catch (FileSystemException e) {
            return false;
        }
    }

    /** The directory above another one by the parents that it has; {@code null} if the path for that is too long. */
    private FileId ancestorOrNull(Path directory, int levels) throws IOException {
        try {
            return levels < 1 ? null : store.read(directory.resolve(UP.repeat(levels))).id();
        } catch (FileSystemException e) {
            return null;
        }
    }

    /** The directory above another one by its path. */
    private Path above(Path directory, int levels) {
        return levels == depth(directory) ? root
                : directory.getRoot().resolve(directory.subpath(0, directory.getNameCount() - levels));
    }

    private int depth(Path directory) {
        return directory.getNameCount() - root.getNameCount();
    }
}
