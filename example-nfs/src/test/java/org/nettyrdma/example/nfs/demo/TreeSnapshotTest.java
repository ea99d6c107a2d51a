package org.nettyrdma.example.nfs.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.nettyrdma.example.nfs.server.MemoryFileSystem;

class TreeSnapshotTest {

    private static final FileTime TIME = FileTime.fromMillis(1_700_000_000_000L);

    private FileSystem memory;
    private Path expected;
    private Path actual;

    @BeforeEach
    void writeEqualTrees() throws IOException {
        memory = MemoryFileSystem.create(1 << 20);
        expected = write("/expected");
        actual = write("/actual");
    }

    @AfterEach
    void closeFileSystem() throws IOException {
        memory.close();
    }

    @Test
    void shouldFindNoDifferenceBetweenEqualTrees() throws IOException {
        assertEquals(Optional.empty(), difference());
    }

    @Test
    void shouldCountWhatATreeHolds() throws IOException {
        TreeSnapshot tree = TreeSnapshot.of(expected);
        assertEquals(3, tree.count(TreeSnapshot.Type.FILE));
        assertEquals(1, tree.count(TreeSnapshot.Type.DIRECTORY));
        assertEquals(1, tree.count(TreeSnapshot.Type.SYMBOLIC_LINK));
        assertEquals(10, tree.bytes());
    }

    @Test
    void shouldFindAMissingName() throws IOException {
        Files.delete(actual.resolve("directory/other"));
        assertDifference("directory/other is missing");
    }

    @Test
    void shouldFindASuperfluousName() throws IOException {
        Files.createFile(actual.resolve("directory/zzz"));
        Files.setLastModifiedTime(actual.resolve("directory"), TIME);
        assertDifference("directory/zzz should not be there");
    }

    @Test
    void shouldFindAnotherType() throws IOException {
        Files.delete(actual.resolve("link"));
        Files.createFile(actual.resolve("link"));
        assertDifference("link: type is FILE instead of SYMBOLIC_LINK");
    }

    @Test
    void shouldFindAnotherLength() throws IOException {
        Files.writeString(actual.resolve("file"), "01234");
        assertDifference("file: length in bytes is 5 instead of 4");
    }

    @Test
    void shouldFindOneChangedByte() throws IOException {
        Files.writeString(actual.resolve("file"), "0124");
        String difference = difference().orElseThrow();
        assertTrue(difference.startsWith("file: SHA-256 is "), difference);
    }

    @Test
    void shouldFindAnotherMode() throws IOException {
        Files.setPosixFilePermissions(actual.resolve("file"), PosixFilePermissions.fromString("rw-r--r-x"));
        assertDifference("file: mode is rw-r--r-x instead of rw-r--r--");
    }

    @Test
    void shouldFindAnotherModeOfADirectory() throws IOException {
        Files.setPosixFilePermissions(actual.resolve("directory"), PosixFilePermissions.fromString("rwx------"));
        assertDifference("directory: mode is rwx------ instead of rwxr-xr-x");
    }

    @Test
    void shouldFindAnotherTime() throws IOException {
        Files.setLastModifiedTime(actual.resolve("file"), FileTime.fromMillis(TIME.toMillis() + 1));
        assertDifference("file: time of last change is 2023-11-14T22:13:20.001Z instead of 2023-11-14T22:13:20Z");
    }

    @Test
    void shouldFindAnotherTargetOfALink() throws IOException {
        Files.delete(actual.resolve("link"));
        Files.createSymbolicLink(actual.resolve("link"), memory.getPath("nowhere"));
        assertDifference("link: target is nowhere instead of file");
    }

    @Test
    void shouldFindThatTwoNamesAreNoLongerOneFile() throws IOException {
        Path name = actual.resolve("second-name");
        Files.delete(name);
        Files.copy(actual.resolve("file"), name);
        Files.setPosixFilePermissions(name, PosixFilePermissions.fromString("rw-r--r--"));
        Files.setLastModifiedTime(name, TIME);
        assertDifference("second-name: first of its names is second-name instead of file");
    }

    @Test
    void shouldReportTheFirstOfSeveralDifferences() throws IOException {
        Files.delete(actual.resolve("second-name"));
        Files.delete(actual.resolve("directory/other"));
        Files.setLastModifiedTime(actual.resolve("directory"), TIME);
        assertDifference("directory/other is missing");
    }

    private Path write(String name) throws IOException {
        Path root = Files.createDirectory(memory.getPath(name));
        Path file = Files.writeString(root.resolve("file"), "0123");
        Files.createLink(root.resolve("second-name"), file);
        Files.createSymbolicLink(root.resolve("link"), memory.getPath("file"));
        Path directory = Files.createDirectory(root.resolve("directory"));
        Path other = Files.writeString(directory.resolve("other"), "abcdef");
        for (Path path : new Path[] {file, other, directory}) {
            Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(path == directory ? "rwxr-xr-x" : "rw-r--r--"));
            Files.setLastModifiedTime(path, TIME);
        }
        return root;
    }

    private Optional<String> difference() throws IOException {
        return TreeSnapshot.of(expected).firstDifference(TreeSnapshot.of(actual));
    }

    private void assertDifference(String text) throws IOException {
        // The directory's own time is not what these tests are about.
        Files.setLastModifiedTime(actual.resolve("directory"), TIME);
        assertEquals(Optional.of(text), difference());
    }
}
