package org.nettyrdma.example.nfs.server;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.nettyrdma.example.nfs.protocol.WccAttr;

/**
 * The names in a directory in the order of their cookies. A cookie is made from the name alone. So it stays good while
 * other names come and go, after a restart of the server, and needs no memory: going on behind a cookie means going on with
 * the names whose cookies are larger. Immutable.
 */
final class DirectoryListing {

    /** The cookie of {@code .}; 0 is the start. */
    static final long SELF_COOKIE = 1;
    /** The cookie of {@code ..}. */
    static final long PARENT_COOKIE = 2;
    /** Goes with every cookie; another number in a call means cookies that were made in another way. */
    static final long COOKIE_VERIFIER = 0x6e72_646d_6131L;

    /** Clients keep cookies in signed 64-bit numbers; the rest is room for names with equal hashes. */
    private static final int UNUSED_BITS = 2;

    private record Entry(long cookie, String name) {
    }

    private final long[] cookies;
    private final String[] names;
    private final WccAttr version;

    private DirectoryListing(List<Entry> entries, WccAttr version) {
        this.version = version;
        names = new String[entries.size()];
        cookies = new long[entries.size()];
        long previous = PARENT_COOKIE;
        for (int i = 0; i < names.length; i++) {
            names[i] = entries.get(i).name();
            // Two names with one hash are improbable but must not hide each other.
            previous = Math.max(entries.get(i).cookie(), previous + 1);
            cookies[i] = previous;
        }
    }

    static DirectoryListing read(FileObject directory) throws IOException {
        List<Entry> entries = new ArrayList<>();
        try (DirectoryStream<Path> paths = Files.newDirectoryStream(directory.path())) {
            for (Path path : paths) {
                String name = path.getFileName().toString();
                entries.add(new Entry(NameHash.of(name) >>> UNUSED_BITS, name));
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        entries.sort(Comparator.comparingLong(Entry::cookie).thenComparing(Entry::name));
        return new DirectoryListing(entries, directory.attributes().toWccAttr());
    }

    /** What the directory was when it was listed. */
    WccAttr version() {
        return version;
    }

    int size() {
        return names.length;
    }

    String name(int index) {
        return names[index];
    }

    long cookie(int index) {
        return cookies[index];
    }

    /** Index of the first name behind a cookie. */
    int indexBehind(long cookie) {
        int index = Arrays.binarySearch(cookies, cookie);
        return index < 0 ? -index - 1 : index + 1;
    }
}
