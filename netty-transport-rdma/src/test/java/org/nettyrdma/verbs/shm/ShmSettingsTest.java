package org.nettyrdma.verbs.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.net.InetAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ShmSettingsTest {

    /** A name that is misspelt would be that of nobody: the processes of whoever is meant were refused one by one. */
    @Test
    void shouldRefuseAUserWhomTheSystemDoesNotKnow() {
        assertUnknown("rooot", "root, rooot");
    }

    /** -1 is the number of nobody, and -0 that of root. */
    @Test
    void shouldRefuseNumbersThatAreNoneOfAUser() {
        for (String number : new String[] {"-1", "-0", "+0", "-2147483648", "2147483648", "4294967295", "0x0"}) {
            assertUnknown(number, "root," + number);
        }
    }

    private static void assertUnknown(String name, String users) {
        assertEquals("org.nettyrdma.shm.users: the system knows no user " + name + " (expected: names of users, and numbers from"
                + " 0 to 2147483647 of those without a name)",
                assertThrows(IOException.class, () -> withUsers(users)).getMessage());
    }

    /** A user may have a name in one container only. */
    @Test
    void shouldKnowAUserByNameAndByNumber() throws IOException {
        UserPrincipal root = Files.getOwner(Path.of("/"));
        assertEquals(Set.of(root), withUsers("root").otherUsers());
        assertEquals(Set.of(root), withUsers(" 0 ,").otherUsers());
        assertEquals(Set.of(), withUsers(" , ").otherUsers());
    }

    private static ShmSettings withUsers(String users) throws IOException {
        return with(ShmSettings.USERS_PROPERTY, users);
    }

    /** As where a script takes it from a variable that is not set. */
    @Test
    void shouldRefuseADirectoryWithoutAName() {
        assertRefused("org.nettyrdma.shm.directory is empty (expected: a directory in a memory file system)", "");
    }

    /** Processes that run in other directories would not meet. */
    @Test
    void shouldRefuseADirectoryThatDependsOnWhereTheProcessRuns() {
        for (String name : new String[] {"shared", "./shared", "~/shared", " /dev/shm/shared"}) {
            assertRefused("org.nettyrdma.shm.directory: '" + name + "' is another directory for each process that runs elsewhere"
                    + " (expected: an absolute path)", name);
        }
    }

    /** Later, a socket in it would be refused by words that name neither the property nor the limit. */
    @Test
    void shouldRefuseADirectoryInWhichPathsOfSocketsWouldBeTooLong() {
        String name = "/" + "d".repeat(ShmSettings.MAX_DIRECTORY_BYTES);
        assertRefused("org.nettyrdma.shm.directory: " + name + " has 56 bytes (expected: at most 55, with which the paths "
                + "of sockets in it are not too long)", name);
    }

    @Test
    void shouldTakeTheLongestDirectoryAndTheLongestNamesOfSocketsInIt(@TempDir Path temporary) throws IOException {
        Path longest = temporary.resolve("d".repeat(ShmSettings.MAX_DIRECTORY_BYTES - temporary.toString().length() - 1));
        assertEquals(longest, withDirectory(longest.toString()).directory());
        Files.createDirectory(longest);
        SharedDirectory shared = new SharedDirectory(new ShmSettings(longest, Set.of()));
        InetAddress address = InetAddress.getByName("fe80:1111:2222:3333:4444:5555:6666:7777");
        for (Path path : new Path[] {shared.port(ShmAddresses.name(address), 65535),
                shared.ofProcess(-1).resolve("s" + Integer.MAX_VALUE)}) {
            Files.createDirectories(path.getParent());
            try (ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
                channel.bind(UnixDomainSocketAddress.of(path));
            }
        }
    }

    private static void assertRefused(String message, String directory) {
        assertEquals(message, assertThrows(IOException.class, () -> withDirectory(directory)).getMessage());
    }

    private static ShmSettings withDirectory(String directory) throws IOException {
        return with(ShmSettings.DIRECTORY_PROPERTY, directory);
    }

    private static ShmSettings with(String property, String value) throws IOException {
        String before = System.getProperty(property);
        System.setProperty(property, value);
        try {
            return ShmSettings.ofSystem();
        } finally {
            if (before != null) {
                System.setProperty(property, before);
            } else {
                System.clearProperty(property);
            }
        }
    }
}
