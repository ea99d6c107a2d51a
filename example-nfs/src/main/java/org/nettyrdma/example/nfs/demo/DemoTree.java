package org.nettyrdma.example.nfs.demo;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.SplittableRandom;

/**
 * Writes a tree of files that hits the edges of the transport: sizes around the inline thresholds and the largest READ and
 * WRITE, many small files, deep directories, names as long as a file system takes them, symbolic and hard links, and every
 * permission. The content depends on nothing but the names, so that two runs write the same bytes.
 */
public final class DemoTree {

    private static final int MEBI = 1 << 20;
    private static final int[] EDGES = {1024, 4096, 65536, MEBI};
    private static final int[] LARGE_BYTES = {
            64 * MEBI, 64 * MEBI - 1, 64 * MEBI - 3, 32 * MEBI + 1, 16 * MEBI + 2, 8 * MEBI + 3, 4 * MEBI, 3 * MEBI - 2,
                    2 * MEBI};
    private static final int SMALL_FILES = 1000;
    private static final int DEEP_DIRECTORIES = 40;
    private static final int MAX_NAME_BYTES = 255;

    private final Path root;
    private final ByteBuffer block = ByteBuffer.allocateDirect(MEBI);

    private DemoTree(Path root) {
        this.root = root;
    }

    /**
     * Writes the whole tree: more than 256 MiB in some 1,100 files.
     *
     * @param root existing empty directory on a file system with POSIX permissions
     * @return {@code root}
     * @throws IOException if it cannot be written
     */
    public static Path write(Path root) throws IOException {
        DemoTree tree = new DemoTree(root);
        tree.writeAllButLargeFiles(SMALL_FILES);
        for (int bytes : LARGE_BYTES) {
            tree.writeFile(tree.directory("large").resolve("file-of-" + bytes), bytes);
        }
        return root;
    }

    /**
     * Writes everything but the large files: about 6 MiB in some 150 files.
     *
     * @param root existing empty directory on a file system with POSIX permissions
     * @return {@code root}
     * @throws IOException if it cannot be written
     */
    public static Path writeSmall(Path root) throws IOException {
        new DemoTree(root).writeAllButLargeFiles(SMALL_FILES / 10);
        return root;
    }

    private void writeAllButLargeFiles(int smallFiles) throws IOException {
        writeEdges();
        writeSmallFiles(smallFiles);
        writeDeepDirectories();
        writeLongNames();
        writeLinks();
        writeModes();
    }

    private void writeEdges() throws IOException {
        Path directory = directory("edges");
        for (int bytes = 0; bytes <= 4; bytes++) {
            writeFile(directory.resolve("file-of-" + bytes), bytes);
        }
        for (int edge : EDGES) {
            for (int bytes = edge - 1; bytes <= edge + 3; bytes++) {
                writeFile(directory.resolve("file-of-" + bytes), bytes);
            }
        }
    }

    private void writeSmallFiles(int count) throws IOException {
        Path directory = directory("small");
        for (int i = 0; i < count; i++) {
            writeFile(directory.resolve("file-%04d".formatted(i)), i * 37 % 4096);
        }
    }

    private void writeDeepDirectories() throws IOException {
        Path directory = directory("deep");
        for (int depth = 1; depth <= DEEP_DIRECTORIES; depth++) {
            directory = Files.createDirectory(directory.resolve("level-" + depth));
        }
        writeFile(directory.resolve("bottom"), 100);
        Files.createDirectory(directory("deep").resolve("empty"));
    }

    private void writeLongNames() throws IOException {
        Path directory = directory("names");
        writeFile(directory.resolve("n".repeat(MAX_NAME_BYTES)), 10);
        writeFile(directory.resolve(" with spaces, \"quotes\" and a % sign "), 11);
        writeFile(directory.resolve("-leading-dash"), 12);
        if (takesUnicodeNames()) {
            // Two, three and four bytes a character in UTF-8; the first is as long as a name can be.
            writeFile(directory.resolve("\u00fc".repeat(MAX_NAME_BYTES / 2) + "u"), 13);
            writeFile(directory.resolve("\u65e5\u672c\u8a9e"), 14);
            writeFile(directory.resolve("\ud83d\ude80"), 15);
        }
    }

    /** On the default file system the locale decides: in "C" a name can hold only ASCII. */
    private boolean takesUnicodeNames() {
        return root.getFileSystem() != FileSystems.getDefault()
                || "UTF-8".equalsIgnoreCase(System.getProperty("sun.jnu.encoding"));
    }

    private void writeLinks() throws IOException {
        Path directory = directory("links");
        Path file = directory.resolve("file");
        writeFile(file, 5000);
        Files.createLink(directory.resolve("hard-link-1"), file);
        Files.createLink(directory("names").resolve("hard-link-2"), file);
        Files.createSymbolicLink(directory.resolve("to-file"), path("file"));
        Files.createSymbolicLink(directory.resolve("to-directory"), path("../deep"));
        Files.createSymbolicLink(directory.resolve("to-nothing"), path("no/such/file"));
        Files.createSymbolicLink(directory.resolve("absolute"), path("/no/such/file"));
        // A call with it does not fit inline, and its length is not a multiple of four.
        Files.createSymbolicLink(directory.resolve("long-target"), path("segment-/".repeat(444) + "end"));
    }

    private void writeModes() throws IOException {
        Path directory = directory("modes");
        for (String permissions : new String[] {"r--------", "rw-r--r--", "rwxr-xr-x", "rw-rw-rw-", "rwxrwxrwx", "r-xr-x--x"}) {
            Path file = directory.resolve("file-" + permissions);
            writeFile(file, 20);
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));
        }
        Path closed = Files.createDirectory(directory.resolve("directory-r-xr-x---"));
        writeFile(closed.resolve("inside"), 21);
        Files.setPosixFilePermissions(closed, PosixFilePermissions.fromString("r-xr-x---"));
    }

    private Path directory(String name) throws IOException {
        return Files.createDirectories(root.resolve(name));
    }

    private Path path(String text) {
        return root.getFileSystem().getPath(text);
    }

    private void writeFile(Path file, int bytes) throws IOException {
        SplittableRandom random = new SplittableRandom(seed(root.relativize(file).toString()));
        try (FileChannel out = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            for (int left = bytes; left > 0; left -= block.capacity()) {
                block.clear();
                while (block.hasRemaining()) {
                    block.putLong(random.nextLong());
                }
                block.flip().limit(Math.min(left, block.capacity()));
                while (block.hasRemaining()) {
                    out.write(block);
                }
            }
        }
    }

    private static long seed(String name) {
        long seed = 0;
        for (byte b : name.getBytes(StandardCharsets.UTF_8)) {
            seed = seed * 31 + b;
        }
        return seed;
    }
}
