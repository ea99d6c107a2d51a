package org.nettyrdma.example.nfs.server;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Queue;
import org.nettyrdma.example.nfs.LocalNames;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.nettyrdma.example.nfs.protocol.WccAttr;

/**
 * Names in a directory in the order of their cookies: all of them behind one cookie, or as many as a number of bytes holds.
 * A cookie is made from the name and the key of the server. So it stays good while other names come and go, after a restart of
 * the server with that key, and needs no memory: going on behind a cookie means going on with the names whose cookies are larger.
 * Without the key a client could make many names with one hash, which hide each other and those of others. Immutable.
 */
final class DirectoryListing {

    /** The cookie of {@code .}; 0 is the start. */
    static final long SELF_COOKIE = 1;
    /** The cookie of {@code ..}. */
    static final long PARENT_COOKIE = 2;

    /** What the objects of a name take, about; its characters come on top. */
    private static final int NAME_BYTES = 96;
    /** Clients keep cookies in signed 64-bit numbers; the rest is room for names with equal hashes. */
    private static final int UNUSED_BITS = 2;
    /** How far the cookies of names with equal hashes may be behind these. */
    private static final int MAX_EQUAL_HASHES = 64;
    private static final Comparator<Entry> IN_ORDER = Comparator.comparingLong(Entry::cookie).thenComparing(Entry::name);

    private record Entry(long cookie, String name) {
        private int bytes() {
            return NAME_BYTES + 2 * name.length();
        }
    }

    private final long start;
    private final long[] cookies;
    private final String[] names;
    private final boolean isEnd;
    private final long bytes;
    private final WccAttr version;

    /** @param end the first cookie that is not in the list any more */
    private DirectoryListing(long start, List<Entry> entries, long end, WccAttr version) {
        this.start = start;
        this.version = version;
        long[] all = new long[entries.size()];
        long previous = PARENT_COOKIE;
        int count = 0;
        long size = 0;
        for (Entry entry : entries) {
            // Two names with one hash are improbable, as nobody can make them, but must not hide each other.
            previous = Math.max(entry.cookie(), previous + 1);
            if (previous >= end) {
                break;
            }
            all[count++] = previous;
            size += entry.bytes();
        }
        isEnd = end == Long.MAX_VALUE;
        cookies = Arrays.copyOf(all, count);
        names = entries.stream().limit(count).map(Entry::name).toArray(String[]::new);
        bytes = size;
    }

    /**
     * Reads a directory: all of it if there is room, so that a client may go on anywhere.
     *
     * @param paths    what is in it; the caller closes it
     * @param version  what it was before it was opened
     * @param behind   the cookie behind which the list begins otherwise
     * @param maxBytes how much memory it may take, more than a few names
     * @param cookies  where names are
     */
    static DirectoryListing read(DirectoryStream<Path> paths, WccAttr version, long behind, long maxBytes, CookieHash cookies)
            throws IOException {
        Queue<Entry> first = new PriorityQueue<>(IN_ORDER.reversed());
        long bytes = 0;
        long start = 0;
        long end = Long.MAX_VALUE;
        try {
            for (Path path : paths) {
                String name = LocalNames.nameOf(path);
                if (FileNames.isTooLong(name)) {
                    continue; // nobody could look it up, and clients that are told of it do not show the others
                }
                Entry entry = new Entry(cookies.of(name) >>> UNUSED_BITS, name);
                if (entry.cookie() > start - MAX_EQUAL_HASHES && entry.cookie() < end) {
                    first.add(entry);
                    bytes += entry.bytes();
                }
                if (bytes > maxBytes && start < behind) {
                    start = behind;
                    first.removeIf(before -> before.cookie() <= behind - MAX_EQUAL_HASHES);
                    bytes = first.stream().mapToLong(Entry::bytes).sum();
                }
                while (bytes > maxBytes) {
                    Entry last = first.remove();
                    bytes -= last.bytes();
                    end = last.cookie();
                }
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        List<Entry> entries = new ArrayList<>(first);
        entries.sort(IN_ORDER);
        DirectoryListing listing = new DirectoryListing(start, entries, end, version);
        // as many names with one hash as there is room for
        AccessControl.require(listing.isEnd || listing.size() > 0, NfsStatus.IO);
        return listing;
    }

    /** What the directory was when it was listed. */
    WccAttr version() {
        return version;
    }

    /** The cookie behind which the list begins. */
    long start() {
        return start;
    }

    /** How much memory it takes, about. */
    long bytes() {
        return bytes;
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

    /** Whether there are no names behind the last one here. */
    boolean isEnd() {
        return isEnd;
    }

    /** Whether the name behind a cookie is here, if there is one. */
    boolean hasNext(long cookie) {
        return cookie >= start && (isEnd || names.length > 0 && cookie < cookies[names.length - 1]);
    }

    /** Index of the first name behind a cookie. */
    int indexBehind(long cookie) {
        int index = Arrays.binarySearch(cookies, cookie);
        return index < 0 ? -index - 1 : index + 1;
    }
}
