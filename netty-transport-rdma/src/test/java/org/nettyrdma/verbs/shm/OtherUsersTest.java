package org.nettyrdma.verbs.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.nettyrdma.testing.Jvm;

/** Which rights the files have: with a list of other users these come by the group, whatever the umask is. */
class OtherUsersTest {

    private static final int HOSTILE = 12_345;
    private static final String SOMEBODY = "12346";

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
                "i/b", "rw-r-----"), modes(users(SOMEBODY)));
    }

    /** Nobody could use it then, nor another process make it. */
    @ParameterizedTest
    @CsvSource({"0777, ''", "0177, ''", "0077, 12346"})
    void shouldLeaveNoDirectoryWithoutItsRights(String umask, String user) throws Exception {
        Path shared = temporary.resolve("shm");
        String output = refusalOfAnotherProcess("umask " + umask, shared, user);
        assertTrue(output.startsWith(shared + ": the umask of this process leaves it the mode "), output);
        assertFalse(Files.exists(shared));
    }

    /** Root may do all in any directory, unless it is without that capability. */
    @ParameterizedTest
    @CsvSource({"'', ''", "12346, ', which takes the group of the directory'"})
    void shouldNameADirectoryThatItMayNotWrite(String user, String hint) throws Exception {
        Path shared = Files.createDirectory(temporary.resolve("shm"));
        Files.setPosixFilePermissions(shared, PosixFilePermissions.fromString("r-x------"));
        String withoutRights = ShmSettings.userId() != 0 ? ":"
                : "set -- setpriv --bounding-set=-dac_override,-dac_read_search \"$@\"";
        assertEquals(shared + ": this process may not read, write and search it" + hint + "; "
                + ShmSettings.DIRECTORY_PROPERTY + " names another directory\n",
                refusalOfAnotherProcess(withoutRights, shared, user));
    }

    /** What a process is told that a command of the shell is run before. */
    private static String refusalOfAnotherProcess(String before, Path shared, String user) throws Exception {
        List<String> command = Jvm.command(List.of("-Xmx64m", "-XX:-UsePerfData"), OtherUsersTest.class, shared.toString(), user);
        command.addAll(0, List.of("sh", "-c", before + " && exec \"$@\"", "sh"));
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), output);
        return output;
    }

    /** That process. */
    public static void main(String[] arguments) {
        System.out.println(assertThrows(IOException.class, () ->
                ProcessDirectory.of(new ShmSettings(Path.of(arguments[0]), users(arguments[1])))).getMessage());
    }

    private static Set<UserPrincipal> users(String user) throws IOException {
        return user.isEmpty() ? Set.of() : Set.of(ShmSettings.user(user));
    }

    @Test
    void shouldNameThePropertyOfADirectoryThatCannotBe() throws IOException {
        Path plain = Files.createFile(temporary.resolve("plain"));
        for (Path directory : List.of(plain, plain.resolve("shm"), temporary.resolve("none/shm"))) {
            String message = assertThrows(IOException.class, () ->
                    ProcessDirectory.of(new ShmSettings(directory, Set.of()))).getMessage();
            assertTrue(message.startsWith(directory + " ") && message.contains(ShmSettings.DIRECTORY_PROPERTY), message);
        }
    }

    /** Who may write there could put a directory of his own in the place of a peer's, unless it is sticky. */
    @ParameterizedTest
    @CsvSource({"0700, '', true", "01700, '', true", "0770, '', false", "0704, '', false", "0750, 12346, true",
            "03770, 12346, true", "02770, 12346, false", "01777, 12346, false"})
    void shouldTakeNoDirectoryInWhichOthersCanReplaceFiles(String mode, String user, boolean safe) throws IOException {
        Path shared = Files.createDirectory(temporary.resolve("shm"));
        Files.setAttribute(shared, "unix:mode", Integer.parseInt(mode, 8));
        ShmSettings settings = new ShmSettings(shared, users(user));
        if (safe) {
            ProcessDirectory.of(settings).forget();
        } else {
            String message = assertThrows(IOException.class, () -> ProcessDirectory.of(settings)).getMessage();
            assertTrue(message.startsWith(String.format("%s: mode %04o, owner ", shared, Integer.parseInt(mode, 8))), message);
        }
    }

    /** Its owner can replace what is in it, and reads all if the group is his. Only root can make one of another user. */
    @Test
    void shouldTakeADirectoryOfAnotherUserOnlyIfHeIsListed() throws IOException {
        assumeTrue(ShmSettings.userId() == 0);
        Path shared = Files.createDirectory(temporary.resolve("shm"));
        Files.setAttribute(shared, "unix:mode", 03770);
        Files.setAttribute(shared, "unix:uid", HOSTILE);
        String message = assertThrows(IOException.class, () ->
                ProcessDirectory.of(new ShmSettings(shared, users(SOMEBODY)))).getMessage();
        assertEquals(shared + ": mode 3770, owner " + HOSTILE + " (expected: at most 3770, not 2770, and the user of this "
                + "process, root or one of " + ShmSettings.USERS_PROPERTY + "); " + ShmSettings.DIRECTORY_PROPERTY
                + " names another directory", message);
        ProcessDirectory.of(new ShmSettings(shared, users(Integer.toString(HOSTILE)))).forget();
    }

    /** It could be put there after its kind was looked at. */
    @Test
    @Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void shouldWaitForAPipeOfAnotherUserForATimeOnly() throws Exception {
        Path plain = Files.write(temporary.resolve("plain"), new byte[1]);
        Path pipe = temporary.resolve("pipe");
        assertEquals(0, new ProcessBuilder("mkfifo", "-m", "600", pipe.toString()).start().waitFor());
        OtherUsersFiles.open(plain, HOSTILE).close();
        String late = assertThrows(IOException.class, () -> OtherUsersFiles.open(pipe, HOSTILE)).getMessage();
        assertTrue(late.contains("could not be opened within " + OtherUsersFiles.LIMIT_MILLIS + " ms"), late);
        String refusal = assertThrows(IOException.class, () -> OtherUsersFiles.open(plain, HOSTILE)).getMessage();
        assertTrue(refusal.contains("another file of user " + HOSTILE), refusal);
        OtherUsersFiles.open(plain, HOSTILE + 1).close();
        FileChannel writer = FileChannel.open(pipe, UnixFile.AT_ONCE);
        while (OtherUsersFiles.hasAbandoned(HOSTILE)) {
            Thread.onSpinWait();
        }
        writer.close();
        OtherUsersFiles.open(plain, HOSTILE).close();
    }

    @Test
    void shouldTellThatAFileOfAnotherUserIsNotThere() {
        assertThrows(NoSuchFileException.class, () -> OtherUsersFiles.open(temporary.resolve("none"), HOSTILE));
    }

    /** Only root can make files that belong to another user. */
    @Test
    void shouldMapAFileOfAnotherUser() throws IOException {
        assumeTrue(ShmSettings.userId() == 0);
        Path directory = Files.createDirectory(temporary.resolve("other"));
        Path file = Files.write(directory.resolve("b1"), new byte[4096]);
        Files.setAttribute(file, "unix:uid", HOSTILE);
        Files.setAttribute(directory, "unix:uid", HOSTILE);
        MappedFiles.unmap(MappedFiles.map(file, 4096, 4096));
    }

    /** The mode of each file of a process that listens, by its name without the numbers. */
    private Map<String, String> modes(Set<UserPrincipal> otherUsers) throws IOException {
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
