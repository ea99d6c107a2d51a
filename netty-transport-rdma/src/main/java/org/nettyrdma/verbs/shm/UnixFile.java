package org.nettyrdma.verbs.shm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.Set;

/**
 * What is at a path, as the system says; links are not followed.
 *
 * @param userId the number of its owner
 * @param mode   its kind and its rights
 */
record UnixFile(int userId, int mode) {

    /** Opens a file without waiting, whatever it is: only with both rights that holds for a pipe. */
    static final Set<OpenOption> AT_ONCE = Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);

    private static final int KIND = 0xF000;
    private static final int DIRECTORY = 0x4000;
    private static final int PLAIN = 0x8000;
    private static final int SOCKET = 0xC000;
    private static final int STICKY = 01000;
    private static final int GROUP_WRITES = 020;

    static UnixFile at(Path path) throws IOException {
        Map<String, Object> attributes = Files.readAttributes(path, "unix:uid,mode", LinkOption.NOFOLLOW_LINKS);
        return new UnixFile((Integer) attributes.get("uid"), (Integer) attributes.get("mode"));
    }

    boolean isDirectory() {
        return (mode & KIND) == DIRECTORY;
    }

    /** Whether it holds bytes: opening anything else may wait for somebody. */
    boolean isPlain() {
        return (mode & KIND) == PLAIN;
    }

    boolean isSocket() {
        return (mode & KIND) == SOCKET;
    }

    /** The rights, with the bits before them. */
    int rights() {
        return mode & ~KIND;
    }

    /**
     * Whether in this directory nobody but its owner can replace what another user has made, and all others have no rights.
     *
     * @param forGroup whether the group may have rights
     */
    boolean isSafe(boolean forGroup) {
        return (mode & (forGroup ? 07 : 077)) == 0 && ((mode & GROUP_WRITES) == 0 || (mode & STICKY) != 0);
    }
}
