package org.nettyrdma.verbs.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which rights the files have: with a list of other users these come by the group, whatever the umask is. */
class OtherUsersTest {

    @TempDir
    private Path temporary;

    @Test
    void shouldKeepAllFilesToItsUser() throws IOException {
        assertEquals(Map.of("", "rwx------", "lock", "rw-------", "i", "rwx------", "i/lock", "rw-------", "i/s", "rw-------",
                "i/b", "rw-------"), modes(Set.of()));
    }

    /** To connect takes the right to write to the socket, and to look for files of dead processes that to write the lock. */
    @Test
    void shouldLetTheGroupConnectWhereOtherUsersMay() throws IOException {
        assertEquals(Map.of("", "rwxr-x---", "lock", "rw-rw----", "i", "rwxr-x---", "i/lock", "rw-r-----", "i/s", "rw-rw----",
                "i/b", "rw-r-----"), modes(Set.of("somebody")));
    }

    /** The mode of each file of a process that listens, by its name without the numbers. */
    private Map<String, String> modes(Set<String> otherUsers) throws IOException {
        Path shared = temporary.resolve("shm");
        try (ShmSide side = new ShmSide(new ShmProvider(new ShmSettings(shared, otherUsers)))) {
            side.listen();
            Map<String, String> modes = new TreeMap<>();
            try (var files = Files.walk(shared)) {
                for (Path file : files.filter(each -> !Files.isSymbolicLink(each)).toList()) {
                    modes.put(shared.relativize(file).toString().replaceAll("(?<=^i)[0-9a-f]{16}|(?<=[sb])[0-9]+$", ""),
                            PosixFilePermissions.toString(Files.getPosixFilePermissions(file, LinkOption.NOFOLLOW_LINKS)));
                }
            }
            return modes;
        }
    }
}
