package org.nettyrdma.verbs.shm;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Where the files of this provider are, and who may connect besides the user of this process.
 *
 * @param directory  holds the files of all processes that are to reach each other
 * @param otherUsers names of other users whose processes may connect
 */
record ShmSettings(Path directory, Set<String> otherUsers) {

    static final String DIRECTORY_PROPERTY = "org.nettyrdma.shm.directory";
    static final String USERS_PROPERTY = "org.nettyrdma.shm.users";

    private static final Path MEMORY_FILE_SYSTEM = Path.of("/dev/shm");

    /**
     * What the system properties say.
     *
     * @throws IOException if the directory has no name, which would be that in which the process happens to run
     */
    static ShmSettings ofSystem() throws IOException {
        String directory = System.getProperty(DIRECTORY_PROPERTY);
        if (directory != null && directory.isBlank()) {
            throw new IOException(DIRECTORY_PROPERTY + " is empty (expected: a directory in a memory file system)");
        }
        return new ShmSettings(directory != null ? Path.of(directory)
                : MEMORY_FILE_SYSTEM.resolve("netty-rdma-" + userId()),
                Arrays.stream(System.getProperty(USERS_PROPERTY, "").split(","))
                        .map(String::trim).filter(name -> !name.isEmpty()).collect(Collectors.toUnmodifiableSet()));
    }

    /** Whether others than the user of this process may connect, and read its files. */
    boolean othersMayRead() {
        return !otherUsers.isEmpty();
    }

    /** The number of the user of this process. */
    static int userId() throws IOException {
        return userId(Path.of("/proc/self/stat"));
    }

    /** The number of the owner of a file; links are not followed. */
    static int userId(Path file) throws IOException {
        return UnixFile.at(file).userId();
    }
}
