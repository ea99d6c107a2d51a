package org.nettyrdma.example.nfs.server;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.example.nfs.LocalNames;
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

    private DirectoryListing read(long cookie, CookieHash cookies) throws IOException {
        try (DirectoryStream<Path> paths = Files.newDirectoryStream(directory)) {
            return DirectoryListing.read(paths, tree.root().attributes().toWccAttr(), cookie, 1 << 20, cookies);
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

    /** The step in which it changed last may not be over: what others change in it then would not show. */
    @Test
    void shouldReadADirectoryAnewThatHasChangedSinceItWasLookedUp() throws IOException {
        create(0, 20);
        listings.behind(0, tree.root(), true);
        nowNanos += 3_000_000_000L;
        FileObject found = tree.root();
        Files.createFile(directory.resolve("another"));
        DirectoryListing changed = listings.behind(0, found, true);
        assertEquals(21, changed.size());
        assertNotSame(changed, listings.behind(0, tree.root(), true));
    }

    @Test
    void shouldReadADirectoryWithoutTheLockOfNames() throws IOException {
        create(0, 500);
        DirectoryListings watched = new DirectoryListings(tree, LISTING_BYTES, () -> {
            assertTrue(CompletableFuture.supplyAsync(() -> {
                boolean isFree = tree.exclusiveNames().tryLock();
                if (isFree) {
                    tree.exclusiveNames().unlock();
                }
                return isFree;
            }).join());
            return ++nowNanos;
        });
        assertEquals(502, list(new DirectoryProcedures(tree, 1 << 20, watched), tree.root(), 5000, new ArrayList<>()).size());
        assertTrue(nowNanos > 0);
    }

    @Test
    void shouldReadADirectoryWhereverItIsByThen() throws IOException {
        Path before = Files.createDirectory(directory.resolve("before"));
        Files.createFile(before.resolve("file"));
        FileObject found = tree.lookup(tree.root(), "before");
        Files.move(before, directory.resolve("after"));
        tree.renamed(tree.root(), "before", found, tree.root(), "after");
        Files.createDirectory(before);
        assertEquals("file", listings.behind(0, found, true).name(0));
    }

    /** Whoever lists small ones, which costs little, does not make others read large ones anew for each piece. */
    @Test
    void shouldKeepAListingWhileOthersListManyOtherDirectories() throws IOException {
        create(0, 20);
        DirectoryListing first = listings.behind(0, tree.root(), true);
        for (int i = 0; i < 200; i++) {
            Files.createDirectory(directory.resolve("directory" + i));
            listings.behind(0, tree.lookup(tree.root(), "directory" + i), true);
        }
        assertSame(first, listings.behind(first.cookie(3), tree.root(), false));
    }

    @Test
    void shouldReadADirectoryOnceForWhoGoesOnInItFromTheEndToTheStart() throws IOException {
        create(0, 50);
        DirectoryListing order = read(0, tree.cookies());
        DirectoryListing first = listings.behind(order.cookie(49), tree.root(), false);
        for (int i = 49; i >= 0; i--) {
            assertSame(first, listings.behind(order.cookie(i), tree.root(), false));
        }
    }

    /** The first call starts the others when it is about to read, and reads, what has changed by then, when they wait for it. */
    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void shouldReadADirectoryOnceForAllCallsThatCameBefore() throws Exception {
        create(0, 20);
        AtomicLong clock = new AtomicLong();
        Thread firstCaller = Thread.currentThread();
        Deque<FutureTask<DirectoryListing>> others = new ArrayDeque<>();
        DirectoryListings shared = new DirectoryListings(tree, LISTING_BYTES, () -> {
            // It has asked when it came, and at each of its two looks at what is there.
            if (clock.get() == 3 && Thread.currentThread() == firstCaller) {
                for (FutureTask<DirectoryListing> other : others) {
                    Thread thread = new Thread(other);
                    thread.start();
                    while (thread.getState() != Thread.State.WAITING) {
                        Thread.onSpinWait();
                    }
                }
                assertDoesNotThrow(() -> create(20, 21));
            }
            return clock.incrementAndGet();
        });
        for (int i = 0; i < 5; i++) {
            others.add(new FutureTask<>(() -> shared.behind(0, tree.root(), true)));
        }
        DirectoryListing first = shared.behind(0, tree.root(), true);
        for (FutureTask<DirectoryListing> other : others) {
            assertSame(first, other.get());
        }
        assertNotSame(first, shared.behind(0, tree.root(), true), "which came after it");
    }

    @Test
    void shouldAnswerWithFewEntriesOfADeepDirectory() throws IOException {
        Path deep = directory.toRealPath();
        FileObject found = tree.root();
        for (int i = 0; i < 500; i++) {
            deep = Files.createDirectory(deep.resolve("d"));
            found = tree.lookup(found, "d");
        }
        for (int i = 0; i < 300; i++) {
            Files.createFile(deep.resolve("file" + i));
        }
        DirectoryProcedures procedures = new DirectoryProcedures(tree, 1 << 20, listings);
        List<Integer> pages = new ArrayList<>();
        assertEquals(302, new TreeSet<>(list(procedures, found, 1 << 20, pages)).size());
        assertTrue(Collections.max(pages) <= (1 << 16) / 500, pages::toString);
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
            List<String> names = list(procedures, tree.root(), count, new ArrayList<>());
            assertEquals(502, names.size());
            assertEquals(502, new TreeSet<>(names).size());
        }
    }

    private List<String> list(DirectoryProcedures procedures, FileObject of, int count, List<Integer> pages) throws IOException {
        List<String> names = new ArrayList<>();
        long cookie = 0;
        boolean end = false;
        while (!end) {
            ByteBuf arguments = Unpooled.buffer();
            new ReadDirectoryArguments(of.node().handle(), cookie, 0, count).write(arguments);
            NfsCall call = new NfsCall(tree, new Credentials(0, 0, List.of()), arguments, arguments.alloc());
            procedures.readDirectory(call);
            ByteBuf out = call.results().skipBytes(Integer.BYTES);
            Fattr.readOptional(out);
            out.skipBytes(Long.BYTES);
            int before = names.size();
            while (Xdr.readBoolean(out, "entry")) {
                DirectoryEntry entry = DirectoryEntry.read(out);
                names.add(entry.name());
                cookie = entry.cookie();
            }
            pages.add(names.size() - before);
            end = Xdr.readBoolean(out, "eof");
            call.release();
        }
        return names;
    }

    /** Of 64 bits of FNV-1a all these names have the same ones. Each page is one of a client whose listing is not kept. */
    @Test
    void shouldShowNamesThatWereMadeToHideEachOther() throws IOException {
        String[][] parts = {
            {"\u019A\u0251\u02DF\u035A\u07C3\u06DE\u01A0\u0464", "\u1182\u0C16\u5677\u43ED\u720F\u23A4\uC6C7\u0777"},
            {"\u0301\u0705\u013F\u04D2\u030F\u0603\u037B\u0126", "\u3804\u5D71\u4941\u7C88\u46E0\u5303\u7820\u2C39"},
            {"\u0395\u0740\u0303\u0336\u0798\u079A\u0625\u07E5", "\u543A\u6697\u6402\u1EEA\u169B\u1347\u365F\u2BCE"},
            {"\u05AF\u0536\u0592\u022F\u07EB\u0418\u01CF\u0267", "\u2606\u1EE5\u5FAD\u1DF8\u2579\u2C2E\u289F\u098D"},
            {"\u0582\u0468\u06CD\u03B4\u07B0\u01F8\u07CA\u02E5", "\uCD90\uD6F6\u48FC\uC6DF\u52FF\u0993\uD3AD\u1972"},
            {"\u01FC\u0337\u0294\u07B6\u0642\u01D2\u076A\u064C", "\u2FE2\u413A\u6AF3\u3C4D\u4273\u28CA\u1C18\uC4E8"},
            {"\u02EE\u0791\u0434\u06A1\u0180\u0594\u0611\u071B", "\u5A6A\u42CB\u1DD2\u7E4E\u3FF2\u2577\u49B8\u224A"}};
        for (int i = 0; i < 1 << parts.length; i++) {
            StringBuilder name = new StringBuilder();
            for (int part = 0; part < parts.length; part++) {
                name.append(parts[part][i >> part & 1]);
            }
            Files.createFile(LocalNames.child(directory, name.toString()));
        }
        Set<String> names = new TreeSet<>();
        long cookie = 0;
        int page = 0;
        do {
            DirectoryListing listing = read(cookie, tree.cookies());
            int first = listing.indexBehind(cookie);
            page = Math.min(listing.size() - first, 10);
            for (int i = first; i < first + page; i++) {
                names.add(listing.name(i));
                cookie = listing.cookie(i);
            }
        } while (page > 0);
        assertEquals(128, names.size());
    }

    @Test
    void shouldPlaceNamesByTheKeyAlone() throws IOException {
        create(0, 100);
        assertEquals(order(tree.cookies()), order(new FileHandles(new byte[FileHandles.KEY_BYTES]).cookies()));
        byte[] otherKey = new byte[FileHandles.KEY_BYTES];
        otherKey[0] = 1;
        assertNotEquals(order(tree.cookies()), order(new FileHandles(otherKey).cookies()));
    }

    private List<String> order(CookieHash cookies) throws IOException {
        DirectoryListing listing = read(0, cookies);
        return IntStream.range(0, listing.size()).mapToObj(listing::name).toList();
    }

    /** The first numbers of "SipHash: a fast short-input PRF", the paper's key: the bytes 0, 1, 2 and so on. */
    @Test
    void shouldHashAsSpecified() {
        ByteBuffer bytes = ByteBuffer.allocate(16).order(ByteOrder.LITTLE_ENDIAN);
        IntStream.range(0, 16).forEach(i -> bytes.put((byte) i));
        CookieHash hash = new CookieHash(bytes.flip());
        String name = bytes.rewind().asCharBuffer().toString();
        assertEquals(0x726fdb47dd0e0e31L, hash.of(""));
        assertEquals(0x0d6c8009d9a94f5aL, hash.of(name.substring(0, 1)));
        assertEquals(0xcbc9466e58fee3ceL, hash.of(name.substring(0, 3)));
        assertEquals(0x93f5f5799a932462L, hash.of(name.substring(0, 4)));
        assertEquals(0xf723ca908e7af2eeL, hash.of(name.substring(0, 7)));
    }
}
