package org.nettyrdma.example.nfs.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.example.nfs.protocol.DirectoryEntry;
import org.nettyrdma.example.nfs.protocol.Fattr;
import org.nettyrdma.example.nfs.protocol.ReadDirectoryArguments;

class DirectoryListingsTest {

    private static final int LISTING_BYTES = 10_000;

    @TempDir
    Path directory;
    private FileTree tree;
    private long nowNanos;
    private DirectoryListings listings;

    @BeforeEach
    void makeTree() throws IOException {
        Path root = directory.toRealPath();
        tree = new FileTree(root, new UnixAttributes(root, false), new FileHandles(new byte[FileHandles.KEY_BYTES]), 1000,
                1 << 20);
        listings = new DirectoryListings(tree, LISTING_BYTES, () -> ++nowNanos);
    }

    private void create(int from, int to) throws IOException {
        for (int i = from; i < to; i++) {
            Files.createFile(directory.resolve("file" + i));
        }
    }

    @Test
    void shouldNotReadADirectoryAnewThatStaysAsItIs() throws IOException {
        create(0, 20);
        DirectoryListing first = listings.behind(0, tree.root(), true);
        assertNotSame(first, listings.behind(0, tree.root(), true), "what changed at the time of the first did not have to show");
        nowNanos += 3_000_000_000L;
        DirectoryListing settled = listings.behind(0, tree.root(), true);
        for (int i = 0; i < 10; i++) {
            assertSame(settled, listings.behind(0, tree.root(), true));
            assertSame(settled, listings.behind(settled.cookie(3), tree.root(), false));
        }
        create(20, 21);
        assertEquals(21, listings.behind(0, tree.root(), true).size());
    }

    @Test
    void shouldListALargeDirectoryInParts() throws IOException {
        create(0, 1000);
        List<String> names = new ArrayList<>();
        long cookie = 0;
        DirectoryListing listing;
        int parts = 0;
        do {
            listing = listings.behind(cookie, tree.root(), cookie == 0);
            assertTrue(listing.bytes() <= LISTING_BYTES);
            for (int i = listing.indexBehind(cookie); i < listing.size(); i++) {
                names.add(listing.name(i));
                cookie = listing.cookie(i);
            }
            parts++;
        } while (!listing.isEnd());
        assertTrue(parts > 10, () -> names.size() + " names");
        assertEquals(1000, names.size());
        assertEquals(new TreeSet<>(IntStream.range(0, 1000).mapToObj(i -> "file" + i).toList()), new TreeSet<>(names));
    }

    @Test
    void shouldGoOnForAWhileInAListingOfADirectoryThatHasChanged() throws IOException {
        create(0, 20);
        DirectoryListing first = listings.behind(0, tree.root(), true);
        create(20, 21);
        nowNanos += 4_000_000_000L;
        assertSame(first, listings.behind(first.cookie(3), tree.root(), false));
        nowNanos += 2_000_000_000L;
        assertNotSame(first, listings.behind(first.cookie(3), tree.root(), false), "after six seconds");
    }

    @Test
    void shouldNotGoOnInWhatWasReadBeforeAnotherListingBegan() throws IOException {
        create(0, 100);
        DirectoryListing first = listings.behind(0, tree.root(), true);
        long last = first.cookie(first.size() - 1);
        DirectoryListing second = listings.behind(last, tree.root(), false);
        create(100, 200);
        assertSame(second, listings.behind(last, tree.root(), false));
        DirectoryListing begun = listings.behind(0, tree.root(), true);
        assertNotSame(first, begun);
        assertNotSame(second, listings.behind(begun.cookie(begun.size() - 1), tree.root(), false));
        assertNotSame(second, listings.behind(last, tree.root(), false));
    }

    /** By READDIR, in results of any size and with names that go away between two parts. */
    @Test
    void shouldGoOnFromOnePartToTheNext() throws IOException {
        create(0, 500);
        DirectoryProcedures procedures = new DirectoryProcedures(tree, 1 << 20, listings);
        for (int count : new int[] {200, 5000, 1 << 20}) {
            List<String> names = new ArrayList<>();
            long cookie = 0;
            boolean end = false;
            while (!end) {
                ByteBuf arguments = Unpooled.buffer();
                new ReadDirectoryArguments(tree.root().node().handle(), cookie, 0, count).write(arguments);
                ByteBuf out = Unpooled.buffer();
                procedures.readDirectory(new NfsCall(tree, new Credentials(0, 0, List.of()), arguments, arguments.alloc()), out);
                Fattr.readOptional(out);
                out.skipBytes(Long.BYTES);
                while (Xdr.readBoolean(out, "entry")) {
                    DirectoryEntry entry = DirectoryEntry.read(out);
                    names.add(entry.name());
                    cookie = entry.cookie();
                }
                end = Xdr.readBoolean(out, "eof");
            }
            assertEquals(502, names.size());
            assertEquals(502, new TreeSet<>(names).size());
        }
    }
}
