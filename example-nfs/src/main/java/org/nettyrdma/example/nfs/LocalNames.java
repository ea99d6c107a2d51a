package org.nettyrdma.example.nfs;

import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Arrays;
import org.nettyrdma.example.nfs.protocol.NameText;

/**
 * Paths of this machine from names of the protocol, and back, byte by byte and whatever the locale is. Java's own way from
 * text to a path goes through the encoding of the locale, and loses what is not in it: in the locale {@code C} all but ASCII.
 * A path's URI has its bytes. Stateless; any thread.
 */
public final class LocalNames {

    private static final char[] HEX = "0123456789ABCDEF".toCharArray();

    private LocalNames() {
    }

    /**
     * Appends names to a path.
     *
     * @param directory the path
     * @param name      one component, as {@link NameText} has it, or several with a {@code /} between them
     * @return the path of that name below the directory
     * @throws InvalidPathException if the file system cannot have such a name
     */
    public static Path child(Path directory, String name) {
        return directory.resolve(path(directory, name));
    }

    /**
     * Makes a path of text, such as the target of a symbolic link.
     *
     * @param sibling a path of the same file system
     * @param text    the text, as {@link NameText} has it
     * @return the path, relative unless the text begins with {@code /}
     * @throws InvalidPathException if the file system cannot have such a path
     */
    public static Path path(Path sibling, String text) {
        if (isAscii(text)) {
            return sibling.getFileSystem().getPath(text);
        }
        if (sibling.getFileSystem() != FileSystems.getDefault()) {
            requireWellFormed(text);
            return sibling.getFileSystem().getPath(text);
        }
        Path absolute = Path.of(URI.create("file://" + escaped(text)));
        return text.startsWith("/") ? absolute : absolute.subpath(0, absolute.getNameCount());
    }

    private static String escaped(String text) {
        byte[] bytes;
        try {
            bytes = NameText.encode(text);
        } catch (IllegalArgumentException e) {
            throw new InvalidPathException(text, e.getMessage());
        }
        StringBuilder uri = new StringBuilder(3 * bytes.length + 1).append('/');
        for (byte b : bytes) {
            if (b == 0) {
                throw new InvalidPathException(text, "NUL is not allowed");
            }
            uri.append('%').append(HEX[b >> 4 & 0xF]).append(HEX[b & 0xF]);
        }
        return uri.toString();
    }

    private static void requireWellFormed(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (Character.isSurrogate(text.charAt(i)) && !Character.isSurrogatePair(text.charAt(i),
                    i + 1 < text.length() ? text.charAt(++i) : '\0')) {
                throw new InvalidPathException(text, "not UTF-8");
            }
        }
    }

    /**
     * The last name of a path.
     *
     * @param path a path with at least one name
     * @return the name, as {@link NameText} has it
     */
    public static String nameOf(Path path) {
        return textOf(path.getFileName());
    }

    /**
     * The text of a path, such as the target of a symbolic link.
     *
     * @param path the path
     * @return its text, as {@link NameText} has it
     */
    public static String textOf(Path path) {
        String text = path.toString();
        if (isAscii(text) || path.getFileSystem() != FileSystems.getDefault()) {
            return text;
        }
        String name = NameText.decode(bytesOf(path.getRoot() == null ? Path.of("/").resolve(path) : path));
        return path.getRoot() == null ? name.substring(1) : name;
    }

    /** What a URI of a path has escaped is the bytes of the path. */
    private static byte[] bytesOf(Path absolute) {
        byte[] uri = absolute.toUri().getRawPath().getBytes(StandardCharsets.US_ASCII);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(uri.length);
        for (int i = 0; i < uri.length; i++) {
            if (uri[i] == '%') {
                bytes.write(Character.digit(uri[i + 1], 16) << 4 | Character.digit(uri[i + 2], 16));
                i += 2;
            } else {
                bytes.write(uri[i]);
            }
        }
        byte[] path = bytes.toByteArray();
        // Of what is a directory there the URI ends with a slash, which no path has.
        return path[path.length - 1] == '/' ? Arrays.copyOf(path, path.length - 1) : path;
    }

    private static boolean isAscii(String text) {
        return text.chars().allMatch(c -> c < 0x80);
    }
}
