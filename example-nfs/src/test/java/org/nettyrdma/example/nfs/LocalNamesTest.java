package org.nettyrdma.example.nfs;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.jimfs.Configuration;
import com.google.common.jimfs.Jimfs;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.example.nfs.protocol.NameText;
import org.nettyrdma.testing.Jvm;

class LocalNamesTest {

    private static final List<String> NAMES =
            List.of("plain", "50%", "grün", "文件", "smile \uD83D\uDE00", "lat\uDCE4n", "lat\uDCE5n", "\uDCFF", "a\nb?#");

    @TempDir
    Path directory;

    /** Runs in a process of its own, too, which has another locale. */
    public static void main(String[] arguments) throws IOException {
        Path directory = Path.of(arguments[0]);
        for (String name : NAMES) {
            Files.writeString(LocalNames.child(directory, name), "");
        }
        assertEquals(NAMES.stream().sorted().toList(), list(directory));
    }

    private static List<String> list(Path directory) throws IOException {
        List<String> names = new ArrayList<>();
        try (DirectoryStream<Path> paths = Files.newDirectoryStream(directory)) {
            paths.forEach(path -> names.add(LocalNames.nameOf(path)));
        }
        return names.stream().sorted().toList();
    }

    @ParameterizedTest
    @ValueSource(strings = {"C", "C.UTF-8"})
    void shouldGiveFilesTheSameBytesInEveryLocale(String locale) throws Exception {
        ProcessBuilder java = new ProcessBuilder(Jvm.command(List.of(), LocalNamesTest.class, directory.toString()));
        java.environment().put("LC_ALL", locale);
        Process process = java.redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), output);
        ByteArrayOutputStream expected = new ByteArrayOutputStream();
        List<byte[]> bytes = new ArrayList<>(NAMES.stream().map(
                NameText::encode).toList());
        bytes.sort(Arrays::compareUnsigned);
        for (byte[] name : bytes) {
            expected.writeBytes(name);
            expected.write(0);
        }
        assertArrayEquals(expected.toByteArray(), find());
    }

    /** What the operating system calls the files. */
    private byte[] find() throws Exception {
        Process find = new ProcessBuilder("sh", "-c", "find . -mindepth 1 -printf '%P\\0' | LC_ALL=C sort -z")
                .directory(directory.toFile()).start();
        byte[] names = find.getInputStream().readAllBytes();
        assertEquals(0, find.waitFor());
        return names;
    }

    @Test
    void shouldKeepTargetsOfLinks() throws IOException {
        for (String target : List.of("../lat\uDCE4n/./x", "/lat\uDCE4n//y", "plain", "..", "\uDCFF", "gr/ün")) {
            Path link = directory.resolve("link");
            Files.createSymbolicLink(link, LocalNames.path(link, target));
            assertEquals(target.replace("//", "/"), LocalNames.textOf(Files.readSymbolicLink(link)));
            Files.delete(link);
        }
    }

    @Test
    void shouldNameDirectoriesWithoutASlash() throws IOException {
        Path child = Files.createDirectory(LocalNames.child(directory, "lat\uDCE4n"));
        assertEquals("lat\uDCE4n", LocalNames.nameOf(child));
        assertEquals(directory + "/lat\uDCE4n", LocalNames.textOf(child));
        assertTrue(Files.isDirectory(LocalNames.child(directory, "lat\uDCE4n")));
    }

    @Test
    void shouldRefuseNamesThatTheFileSystemCannotHave() throws IOException {
        assertThrows(InvalidPathException.class, () -> LocalNames.child(directory, "ä\0"));
        assertThrows(InvalidPathException.class, () -> LocalNames.child(directory, "\uD83D"));
        try (FileSystem memory = Jimfs.newFileSystem(Configuration.unix())) {
            Path root = memory.getPath("/work");
            assertEquals("smile \uD83D\uDE00", LocalNames.nameOf(LocalNames.child(root, "smile \uD83D\uDE00")));
            assertThrows(InvalidPathException.class, () -> LocalNames.child(root, "lat\uDCE4n"));
        }
    }
}
