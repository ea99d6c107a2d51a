package org.nettyrdma.verbs.shm;

import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import java.nio.file.attribute.UserPrincipalNotFoundException;
import java.util.HashSet;
import java.util.Set;

/**
 * Where the files of this provider are, and who may connect besides the user of this process.
 *
 * @param directory  holds the files of all processes that are to reach each other
 * @param otherUsers whose processes may connect, too
 */
record ShmSettings(Path directory, Set<UserPrincipal> otherUsers) {

    static final String DIRECTORY_PROPERTY = "org.nettyrdma.shm.directory";
    static final String USERS_PROPERTY = "org.nettyrdma.shm.users";

    private static final Path MEMORY_FILE_SYSTEM = Path.of("/dev/shm");

    /** What Java takes as the path of a socket. Linux has room for one byte more. */
    static final int MAX_SOCKET_PATH_BYTES = 106;
    /** The longest name by which a socket is found: {@code /port-}, an IPv6 address in full, {@code -} and a port. */
    private static final int MAX_NAME_BYTES = 51;
    static final int MAX_DIRECTORY_BYTES = MAX_SOCKET_PATH_BYTES - MAX_NAME_BYTES;

    /**
     * What the system properties say.
     *
     * @throws IOException if the directory is none for sockets, or depends on where the process happens to run, or the system
     *                     does not know one of the users
     */
    static ShmSettings ofSystem() throws IOException {
        String directory = System.getProperty(DIRECTORY_PROPERTY);
        return new ShmSettings(directory != null ? directory(directory) : MEMORY_FILE_SYSTEM.resolve("netty-rdma-" + userId()),
                users(System.getProperty(USERS_PROPERTY, "")));
    }

    private static Path directory(String name) throws IOException {
        if (name.isBlank()) {
            throw new IOException(DIRECTORY_PROPERTY + " is empty (expected: a directory in a memory file system)");
        }
        Path path = Path.of(name).normalize();
        if (!path.isAbsolute()) {
            throw new IOException(DIRECTORY_PROPERTY + ": '" + name + "' is another directory for each process that runs "
                    + "elsewhere (expected: an absolute path)");
        }
        int bytes = path.toString().getBytes(Charset.defaultCharset()).length;
        if (bytes > MAX_DIRECTORY_BYTES) {
            throw new IOException(DIRECTORY_PROPERTY + ": " + path + " has " + bytes + " bytes (expected: at most "
                    + MAX_DIRECTORY_BYTES + ", with which the paths of sockets in it are not too long)");
        }
        return path;
    }

    private static Set<UserPrincipal> users(String names) throws IOException {
        Set<UserPrincipal> users = new HashSet<>();
        for (String name : names.split(",")) {
            if (!name.isBlank()) {
                users.add(user(name.trim()));
            }
        }
        return Set.copyOf(users);
    }

    /** The user of a name or of a number. With a sign, which Java takes, it would be that of a larger number or of nobody. */
    static UserPrincipal user(String name) throws IOException {
        try {
            if (name.startsWith("-") || name.startsWith("+")) {
                throw new UserPrincipalNotFoundException(name);
            }
            return FileSystems.getDefault().getUserPrincipalLookupService().lookupPrincipalByName(name);
        } catch (UserPrincipalNotFoundException e) {
            throw new IOException(USERS_PROPERTY + ": the system knows no user " + name
                    + " (expected: names of users, and numbers from 0 to " + Integer.MAX_VALUE + " of those without a name)", e);
        }
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
