package org.nettyrdma.example.nfs.demo;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What a directory tree holds, in a form that two trees on different file systems can be compared in. Devices, sockets and
 * pipes are left out.
 *
 * @param entries what lies below the root, by path relative to it with {@code /} between names
 */
public record TreeSnapshot(SortedMap<String, Entry> entries) {

    private static final int BLOCK_BYTES = 1 << 18;

    /**
     * One name in the tree.
     *
     * @param type what it is
     * @param permissions as in {@code rwxr-xr-x}; empty for a symbolic link, whose permissions mean nothing
     * @param modified time of the last change of the content, in whole microseconds; the epoch for a symbolic link
     * @param bytes length of a file; 0 for everything else
     * @param content SHA-256 of a file in hexadecimal digits, or the target of a symbolic link; empty for a directory
     * @param firstName for a file with several names the first of them in order of the paths, otherwise its own path
     */
    public record Entry(Type type, String permissions, Instant modified, long bytes, String content, String firstName) {
    }

    /** What a name stands for. */
    public enum Type {
        /** A regular file. */
        FILE,
        /** A directory. */
        DIRECTORY,
        /** A symbolic link. */
        SYMBOLIC_LINK
    }

    /**
     * Reads a tree. Files are digested in parallel on the common pool.
     *
     * @param root directory on a file system with POSIX permissions
     * @return what lies below it
     * @throws IOException if something cannot be read
     */
    public static TreeSnapshot of(Path root) throws IOException {
        try (Stream<Path> paths = Files.walk(root)) {
            Map<String, Path> byName = paths.filter(path -> !path.equals(root) && !attributes(path).isOther())
                    .collect(Collectors.toMap(path -> name(root, path), path -> path));
            Map<Object, String> firstNames = firstNames(byName);
            Map<String, Entry> entries = byName.entrySet().parallelStream()
                    .collect(Collectors.toConcurrentMap(Map.Entry::getKey,
                    named -> entry(named.getKey(), named.getValue(), firstNames)));
            return new TreeSnapshot(new TreeMap<>(entries));
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    /**
     * Compares this tree, which is what should be, with another one.
     *
     * @param actual the other tree
     * @return one sentence about the first difference in order of the paths; empty if there is none
     */
    public Optional<String> firstDifference(TreeSnapshot actual) {
        TreeSet<String> names = new TreeSet<>(entries.keySet());
        names.addAll(actual.entries.keySet());
        return names.stream()
                .flatMap(name -> difference(name, entries.get(name), actual.entries.get(name)).stream())
                .findFirst();
    }

    /**
     * Returns the number of names that stand for something.
     *
     * @param type what they stand for
     * @return a count
     */
    public long count(Type type) {
        return entries.values().stream().filter(entry -> entry.type == type).count();
    }

    /**
     * Returns the length of all files together, a file with several names counted once.
     *
     * @return a length in bytes
     */
    public long bytes() {
        return entries.entrySet().stream()
                .filter(named -> named.getKey().equals(named.getValue().firstName))
                .mapToLong(named -> named.getValue().bytes).sum();
    }

    private static Optional<String> difference(String name, Entry expected, Entry actual) {
        if (expected == null || actual == null) {
            return Optional.of(name + (actual == null ? " is missing" : " should not be there"));
        }
        record Field(String label, Object expected, Object actual) {
        }
        return Stream.of(
                        new Field("type", expected.type, actual.type),
                        new Field("length in bytes", expected.bytes, actual.bytes),
                        new Field(expected.type == Type.SYMBOLIC_LINK ? "target" : "SHA-256", expected.content, actual.content),
                        new Field("mode", expected.permissions, actual.permissions),
                        new Field("first of its names", expected.firstName, actual.firstName),
                        new Field("time of last change", expected.modified, actual.modified))
                .filter(field -> !field.expected.equals(field.actual))
                .map(field -> "%s: %s is %s instead of %s".formatted(name, field.label, field.actual, field.expected))
                .findFirst();
    }

    private static String name(Path root, Path path) {
        return root.relativize(path).toString().replace(root.getFileSystem().getSeparator(), "/");
    }

    private static Map<Object, String> firstNames(Map<String, Path> byName) {
        Map<Object, String> firstNames = new HashMap<>();
        new TreeMap<>(byName).forEach((name, path) -> {
            Object fileKey = attributes(path).fileKey();
            if (fileKey != null) {
                firstNames.putIfAbsent(fileKey, name);
            }
        });
        return firstNames;
    }

    private static Entry entry(String name, Path path, Map<Object, String> firstNames) {
        PosixFileAttributes attributes = attributes(path);
        try {
            if (attributes.isSymbolicLink()) {
                return new Entry(Type.SYMBOLIC_LINK, "", Instant.EPOCH, 0, Files.readSymbolicLink(path).toString(), name);
            }
            String permissions = PosixFilePermissions.toString(attributes.permissions());
            Instant modified = microseconds(attributes.lastModifiedTime());
            if (attributes.isRegularFile()) {
                return new Entry(Type.FILE, permissions, modified, attributes.size(), digest(path),
                        firstNames.getOrDefault(attributes.fileKey(), name));
            }
            return new Entry(Type.DIRECTORY, permissions, modified, 0, "", name);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Java's file systems keep times in different resolutions; microseconds are what all of them can set. */
    private static Instant microseconds(FileTime time) {
        return time.toInstant().truncatedTo(ChronoUnit.MICROS);
    }

    private static PosixFileAttributes attributes(Path path) {
        try {
            return Files.readAttributes(path, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String digest(Path file) throws IOException {
        MessageDigest sha256;
        try {
            sha256 = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
        ByteBuffer block = ByteBuffer.allocate(BLOCK_BYTES);
        try (FileChannel in = FileChannel.open(file)) {
            while (in.read(block.clear()) >= 0) {
                sha256.update(block.flip());
            }
        }
        return HexFormat.of().formatHex(sha256.digest());
    }
}
