package org.nettyrdma.verbs.shm;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;
import org.nettyrdma.testing.Jvm;
import org.nettyrdma.verbs.ListenAttributes;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.QueuePairAttributes;
import org.nettyrdma.verbs.SharedReceiveQueue;
import org.nettyrdma.verbs.VerbsContext;
import org.nettyrdma.verbs.VerbsProvider;
import org.nettyrdma.verbs.iwarp.IwarpProvider;

/** Which provider carries a connection, where both ends or one of them could use either. */
class SameHostTest {

    private static final int RECEIVES = 8;
    private static final ByteBuffer NO_DATA = ByteBuffer.allocate(0);

    @TempDir(cleanup = CleanupMode.NEVER)
    private Path temporary;
    private final List<ShmSide> sides = new ArrayList<>();

    private ShmSide side(VerbsProvider provider) throws IOException {
        ShmSide side = new ShmSide(provider);
        sides.add(side);
        return side;
    }

    /** One that can use both, with a shared directory of this name. */
    private ShmSide both(String directory) throws IOException {
        return side(new SameHostProvider(settings(directory)));
    }

    private ShmSettings settings(String directory) {
        return new ShmSettings(temporary.resolve(directory), Set.of());
    }

    /** Files of a process that was killed are being removed by another thread, perhaps at this moment. */
    @AfterEach
    void close() {
        sides.forEach(ShmSide::close);
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(ShmSide.TIMEOUT_SECONDS);
        while (Files.exists(temporary)) {
            try (var files = Files.walk(temporary)) {
                files.sorted(Comparator.reverseOrder()).forEach(each -> each.toFile().delete());
            } catch (IOException | UncheckedIOException e) {
                assertTrue(System.nanoTime() - deadlineNanos < 0, e::toString);
            }
            assertTrue(System.nanoTime() - deadlineNanos < 0, "files are left");
        }
    }

    private void close(ShmSide side) {
        sides.remove(side);
        side.close();
    }

    private void pumpUntil(BooleanSupplier condition, String what) throws IOException {
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(ShmSide.TIMEOUT_SECONDS);
        while (!condition.getAsBoolean()) {
            int work = 0;
            for (ShmSide side : sides) {
                work += side.context.poll(side, 64);
            }
            if (work == 0) {
                sides.get(0).context.await(100_000);
            }
            assertTrue(System.nanoTime() - deadlineNanos < 0, what);
        }
    }

    /** Connects, and sends a message each way. */
    private void connect(ShmSide client, ShmSide server, SocketAddress address) throws IOException {
        client.connect(address, RECEIVES);
        accept(client, server);
    }

    private void accept(ShmSide client, ShmSide server) throws IOException {
        pumpUntil(() -> !server.requests.isEmpty() || client.ended, "no request");
        assertNull(client.cause);
        server.open(server.context.createQueuePair(ShmSide.ATTRIBUTES, server, server.requests.remove()), RECEIVES);
        server.queuePair.accept(NO_DATA);
        pumpUntil(() -> client.established && server.established || client.ended, "not established");
        int received = client.received + server.received;
        client.send(100);
        server.send(100);
        pumpUntil(() -> client.received + server.received == received + 2 && client.sent > 0, "no messages");
    }

    private static void assertCarried(String carrier, ShmSide... ends) {
        for (ShmSide end : ends) {
            assertEquals(carrier, end.queuePair.carrier());
            if (end.verbs instanceof SameHostProvider both) {
                assertEquals(carrier.equals("shm") ? 1 : 0, both.shm().statistics().connections());
                assertEquals(carrier.equals("shm") ? 0 : 1, both.iwarp().statistics().connections());
            }
        }
    }

    private Path only(String directory, char kind) throws IOException {
        try (var files = Files.walk(temporary.resolve(directory))) {
            List<Path> found = files.filter(each -> each.getFileName().toString().matches(kind + "[0-9]+")).toList();
            assertEquals(1, found.size());
            return found.get(0);
        }
    }

    /** Otherwise the receives were never freed, and the channel never released. */
    @Test
    void shouldUseSharedReceivesNoLongerThanItsContextIsOpen() throws IOException {
        VerbsContext context = new SameHostProvider(settings("one")).openContext();
        SharedReceiveQueue queue = context.createSharedReceiveQueue(4);
        QueuePair queuePair = context.createQueuePair(new QueuePairAttributes(4, 1, 4, 4, false, 1000, queue, 1), null);
        context.close();
        queue.close();
        queuePair.close();
    }

    @Test
    void shouldUseSharedMemoryOnTheSameHost() throws IOException {
        ShmSide server = both("one");
        ShmSide client = both("one");
        connect(client, server, server.listen());
        assertCarried("shm", client, server);
        assertEquals(server.queuePair.localAddress(), client.queuePair.remoteAddress());
    }

    @Test
    void shouldUseTcpWithoutASharedDirectory() throws IOException {
        ShmSide server = both("one");
        ShmSide client = both("other");
        connect(client, server, server.listen());
        assertCarried("iwarp", client, server);
    }

    /** As over plain iWARP: who would poll once more before it sleeps would make a system call for nothing. */
    @Test
    void shouldBeAwaitedUnpolledWhileTcpCarriesAll() throws IOException {
        ShmSide server = both("one");
        ShmSide client = both("other");
        connect(client, server, server.listen());
        pumpUntil(client.context::canAwaitUnpolled, "always something to do");
        client.send(100);
        assertFalse(client.context.canAwaitUnpolled(), "the completion is here already");
        int sent = client.sent;
        client.context.await(-1);
        client.context.poll(client, 64);
        assertEquals(sent + 1, client.sent);
        assertTrue(client.context.canAwaitUnpolled());
    }

    @Test
    void shouldFindByAnyAddressOfTheHost() throws IOException {
        ShmSide server = both("one");
        int port = ((InetSocketAddress) server.listen(new InetSocketAddress(InetAddress.getByName("0.0.0.0"), 0))).getPort();
        List<InetAddress> addresses = NetworkInterface.networkInterfaces().flatMap(NetworkInterface::inetAddresses)
                .filter(each -> each instanceof Inet4Address).toList();
        for (InetAddress address : addresses) {
            ShmSide client = both("one");
            connect(client, server, new InetSocketAddress(address, port));
            assertCarried("shm", client);
            assertEquals(new InetSocketAddress(address, port), server.queuePair.localAddress());
        }
    }

    /** As a socket does, which is connected to the loopback address then. */
    @Test
    void shouldTellWhereTheWildcardHasLed() throws IOException {
        for (String address : List.of("127.0.0.1", "0.0.0.0")) {
            ShmSide server = both("one");
            int port = ((InetSocketAddress) server.listen(new InetSocketAddress(address, 0))).getPort();
            for (ShmSide client : List.of(both("one"), both("other"), side(new ShmProvider(settings("one"))),
                    side(new IwarpProvider()))) {
                connect(client, server, new InetSocketAddress("0.0.0.0", port));
                assertEquals(new InetSocketAddress("127.0.0.1", port), client.queuePair.remoteAddress());
            }
        }
    }

    @Test
    void shouldServePlainIwarpClients() throws IOException {
        ShmSide server = both("one");
        ShmSide client = side(new IwarpProvider());
        connect(client, server, server.listen());
        assertCarried("iwarp", client, server);
    }

    @Test
    void shouldServePlainShmClients() throws IOException {
        ShmSide server = both("one");
        ShmSide client = side(new ShmProvider(settings("one")));
        connect(client, server, server.listen());
        assertCarried("shm", client, server);
    }

    @Test
    void shouldServeBothKindsAtOnce() throws IOException {
        ShmSide server = both("one");
        SocketAddress address = server.listen();
        ShmSide far = side(new IwarpProvider());
        ShmSide near = both("one");
        connect(far, server, address);
        QueuePair toFar = server.queuePair;
        connect(near, server, address);
        for (int i = 1; i <= 1000; i++) {
            int each = i;
            far.send(64);
            near.send(64);
            toFar.postSend(server.work.send(2000).addElement(server.region, 0, 64));
            toFar.flush();
            server.send(64);
            pumpUntil(() -> far.received > each && near.received > each && far.sent > each && near.sent > each, "round " + each);
        }
        assertEquals(1, ((SameHostProvider) server.verbs).shm().statistics().connections());
        assertEquals(1, ((SameHostProvider) server.verbs).iwarp().statistics().connections());
    }

    /** Such as a server with the same address and port in another network namespace. */
    @Test
    void shouldReachWhoeverListensOverTcpAndNotWhoHasTheSameName() throws IOException {
        ShmSide right = side(new IwarpProvider());
        SocketAddress address = right.listen();
        ShmSide wrong = side(new ShmProvider(settings("one")));
        wrong.listen(address);
        ShmSide client = both("one");
        client.connect(address, RECEIVES);
        pumpUntil(() -> right.requests.size() == 1, "the question");
        right.open(right.context.createQueuePair(ShmSide.ATTRIBUTES, right, right.requests.remove()), RECEIVES);
        right.queuePair.accept(NO_DATA);
        pumpUntil(() -> right.ended && right.requests.size() == 1, "the request");
        accept(client, right);
        assertEquals("iwarp", client.queuePair.carrier());
        assertTrue(wrong.requests.isEmpty());
    }

    @Test
    void shouldReachTheRightOneOfTwoThatUseTheSameDirectory() throws IOException {
        ShmSide right = both("one");
        ShmSide probe = side(new IwarpProvider());
        InetSocketAddress free = (InetSocketAddress) probe.listen();
        close(probe);
        ShmSide wrong = side(new ShmProvider(settings("one")));
        wrong.listen(free);
        ShmSide client = both("one");
        connect(client, right, right.listen(free));
        assertCarried("shm", client, right);
        assertTrue(wrong.requests.isEmpty());
    }

    @Test
    void shouldUseTcpIfTheNonceIsNotTheOneInTheFile() throws IOException {
        ShmSide server = both("one");
        SocketAddress address = server.listen();
        Files.write(only("one", 'n'), new byte[16]);
        ShmSide client = both("one");
        connect(client, server, address);
        assertCarried("iwarp", client, server);
    }

    @Test
    void shouldUseTcpIfTheSocketIsGone() throws IOException {
        ShmSide server = both("one");
        SocketAddress address = server.listen();
        Path socket = only("one", 's');
        Path name = temporary.resolve("one").resolve("port-127.0.0.1-" + ((InetSocketAddress) address).getPort());
        Files.delete(socket);
        Files.createFile(socket);
        assertTrue(Files.exists(name));
        ShmSide client = both("one");
        connect(client, server, address);
        assertCarried("iwarp", client, server);
    }

    /** Such as that of a user who may not connect. */
    @Test
    void shouldUseTcpIfSharedMemoryRefuses() throws Exception {
        ShmSide server = both("one");
        SocketAddress address = server.listen();
        Path socket = only("one", 's');
        Files.delete(socket);
        ShmSide client = both("one");
        try (ServerSocketChannel refusing = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            refusing.bind(UnixDomainSocketAddress.of(socket));
            CompletableFuture<Void> refused = CompletableFuture.runAsync(() -> {
                try (SocketChannel accepted = refusing.accept()) {
                    SetupFrameReader reader = new SetupFrameReader();
                    while (reader.read(accepted) == null) {
                        continue;
                    }
                    accepted.write(SetupFrame.rejection(new IOException("user nobody may not connect")).encode());
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                }
            });
            connect(client, server, address);
            refused.get(1, TimeUnit.MINUTES);
        }
        assertCarried("iwarp", client, server);
    }

    @Test
    void shouldNotAskAgainWhereTheUserHasRejected() throws IOException {
        ShmSide server = both("one");
        ShmSide client = both("one");
        client.connect(server.listen(), RECEIVES);
        pumpUntil(() -> !server.requests.isEmpty(), "no request");
        server.requests.remove().reject(ByteBuffer.wrap(new byte[] {4, 2}));
        pumpUntil(() -> client.ended && client.flushed == RECEIVES, "no rejection");
        assertInstanceOf(ConnectException.class, client.cause);
        assertArrayEquals(new byte[] {4, 2}, client.rejection);
        assertTrue(server.requests.isEmpty());
        assertEquals(1, client.ends);
    }

    @Test
    void shouldKeepWhatWasExposedBefore() throws IOException {
        for (String directory : List.of("one", "other")) {
            ShmSide server = both("one");
            ShmSide client = both(directory);
            client.open(client.context.createQueuePair(ShmSide.ATTRIBUTES, client), RECEIVES);
            int withdrawn = client.queuePair.expose(client.region, 0, 64, QueuePair.ACCESS_REMOTE_WRITE);
            int tag = client.queuePair.expose(client.region, 900_000, 64, QueuePair.ACCESS_REMOTE_WRITE);
            assertEquals(0, client.queuePair.remoteOffset(tag));
            assertTrue(client.queuePair.invalidate(7, withdrawn));
            assertThrows(IllegalArgumentException.class, () -> client.queuePair.remoteOffset(withdrawn));
            client.queuePair.connect(server.listen(), null, ByteBuffer.allocate(4).putInt(0, tag));
            pumpUntil(() -> !server.requests.isEmpty(), "no request");
            assertEquals(tag, server.requests.peek().privateData().getInt(0));
            accept(client, server);
            assertCarried(directory.equals("one") ? "shm" : "iwarp", client, server);
            server.memory.putLong(800_000, 0x1122334455667788L);
            int sent = server.sent;
            server.queuePair.postSend(server.work.write(1000, tag, 8).addElement(server.region, 800_000, 8));
            server.queuePair.flush();
            pumpUntil(() -> server.sent == sent + 1, "no write");
            assertEquals(0x1122334455667788L, client.memory.getLong(900_008));
            assertEquals(0, client.queuePair.remoteOffset(tag));
            assertThrows(IllegalArgumentException.class, () -> client.queuePair.remoteOffset(withdrawn));
            server.queuePair.postSend(server.work.write(1000, withdrawn, 0).addElement(server.region, 0, 8));
            server.queuePair.flush();
            pumpUntil(() -> client.ended && server.ended, "a late access is not refused");
            assertTrue(client.cause.getMessage().contains(String.format("%08x", withdrawn)), client.cause::getMessage);
        }
    }

    @Test
    void shouldEndOnceIfItIsClosedWhileItAsks() throws IOException {
        ShmSide server = both("one");
        SocketAddress address = server.listen();
        for (int polls = 0; polls < 40; polls++) {
            ShmSide client = both("one");
            client.connect(address, RECEIVES);
            for (int i = 0; i < polls; i++) {
                client.context.poll(client, 64);
                server.context.poll(server, 64);
            }
            assertTrue(!client.ended && !client.established);
            client.queuePair.moveToError();
            client.queuePair.moveToError();
            pumpUntil(() -> client.ended && client.flushed == RECEIVES, "no end");
            client.queuePair.close();
            server.requests.forEach(request -> request.reject(NO_DATA));
            server.requests.clear();
            close(client);
            assertEquals(1, client.ends);
            assertEquals(RECEIVES, client.flushed);
        }
    }

    @Test
    void shouldHearNothingMoreIfItIsClosedForGoodWhileItAsks() throws IOException {
        ShmSide server = both("one");
        SocketAddress address = server.listen();
        for (int polls = 0; polls < 40; polls++) {
            ShmSide client = both("one");
            client.connect(address, RECEIVES);
            for (int i = 0; i < polls; i++) {
                client.context.poll(client, 64);
                server.context.poll(server, 64);
            }
            client.queuePair.close();
            client.queuePair.close();
            for (int i = 0; i < 20; i++) {
                client.context.poll(client, 64);
                server.context.poll(server, 64);
            }
            QueuePair closed = client.queuePair;
            assertThrows(IllegalStateException.class, () -> closed.postReceive(1, client.region, 0, 10));
            assertEquals(0, client.ends);
            close(client);
        }
    }

    @Test
    void shouldFailAtOnceWhereNobodyListens() throws IOException {
        ShmSide server = both("one");
        SocketAddress address = server.listen();
        close(server);
        ShmSide client = both("one");
        client.connect(address, RECEIVES);
        pumpUntil(() -> client.ended, "no end");
        assertInstanceOf(ConnectException.class, client.cause);
    }

    @Test
    void shouldRefuseAnAddressInUse() throws IOException {
        ShmSide server = both("one");
        SocketAddress address = server.listen();
        ShmSide other = both("other");
        assertThrows(BindException.class, () -> other.listen(address));
    }

    @Test
    void shouldLeaveNoFileOfAListener() throws IOException {
        ShmSide server = both("one");
        List<Path> before = files();
        var listener = server.context.listen(new InetSocketAddress("0.0.0.0", 0), 16,
                new ListenAttributes(5000, 16, 16, 0, true), server);
        assertTrue(files().size() >= before.size() + 3);
        listener.close();
        assertEquals(before, files());
    }

    @Test
    void shouldLeaveNoFileOfAListenerWhoseContextIsClosed() throws IOException {
        ShmSide server = both("one");
        List<Path> before = files();
        VerbsContext context = server.verbs.openContext();
        context.listen(new InetSocketAddress("0.0.0.0", 0), 16, new ListenAttributes(5000, 16, 16, 0, true), server);
        assertTrue(files().size() >= before.size() + 3);
        context.close();
        assertEquals(before, files());
    }

    private List<Path> files() throws IOException {
        try (var files = Files.walk(temporary)) {
            return files.sorted().toList();
        }
    }

    @Test
    void shouldTakeNoAnswerThatProvesNothing() throws IOException {
        ShmSide server = both("one");
        server.listen();
        ProcessDirectory directory = ProcessDirectory.of(settings("one"));
        byte[] nonce = Files.readAllBytes(only("one", 'n'));
        int number = Integer.parseInt(only("one", 'n').getFileName().toString().substring(1));
        HostProof proof = new HostProof(directory.instance(), number, nonce);
        assertEquals(only("one", 's'), HostProof.socket(directory, proof.answer()));
        assertNull(HostProof.socket(directory, NO_DATA));
        assertNull(HostProof.socket(directory, proof.answer().limit(35)));
        assertNull(HostProof.socket(directory, ByteBuffer.allocate(36)));
        for (int i = 0; i < 36; i++) {
            ByteBuffer wrong = proof.answer();
            wrong.put(i, (byte) (wrong.get(i) ^ 0x80));
            assertNull(HostProof.socket(directory, wrong));
        }
        Files.write(only("one", 'n'), new byte[8]);
        assertNull(HostProof.socket(directory, proof.answer()));
    }

    /** Opening it would wait until somebody writes to it. */
    @Test
    @Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void shouldTakeAPipeForNoProof() throws Exception {
        both("one").listen();
        Path file = only("one", 'n');
        HostProof proof = new HostProof(ProcessDirectory.of(settings("one")).instance(),
                Integer.parseInt(file.getFileName().toString().substring(1)), Files.readAllBytes(file));
        Files.delete(file);
        assertEquals(0, new ProcessBuilder("mkfifo", file.toString()).start().waitFor());
        assertNull(HostProof.socket(ProcessDirectory.of(settings("one")), proof.answer()));
    }

    /** The name that it leaves behind leads nobody to another server. */
    @Test
    void shouldUseTcpToWhoeverTakesThePlaceOfAServerThatWasKilled() throws Exception {
        Process process = new ProcessBuilder(Jvm.command(List.of("-Xmx64m", "-XX:TieredStopAtLevel=1"), SameHostTest.class,
                temporary.resolve("one").toString())).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try (BufferedReader output = new BufferedReader(new InputStreamReader(process.getInputStream(),
                StandardCharsets.US_ASCII))) {
            String port = output.readLine();
            SocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(port));
            ShmSide client = both("one");
            client.connect(address, RECEIVES);
            pumpUntil(() -> client.established, "not established");
            assertCarried("shm", client);
            process.destroyForcibly();
            pumpUntil(() -> client.ended, "the death was not noticed");
            assertInstanceOf(IOException.class, client.cause);
            process.waitFor();
            ShmSide successor = both("other");
            successor.listen(address);
            ShmSide next = both("one");
            connect(next, successor, address);
            assertCarried("iwarp", next, successor);
        } finally {
            process.destroyForcibly();
        }
    }

    /** The process that is killed: accepts a connection. */
    public static void main(String[] arguments) throws IOException {
        ShmSide side = new ShmSide(new SameHostProvider(new ShmSettings(Path.of(arguments[0]), Set.of())));
        System.out.println(((InetSocketAddress) side.listen()).getPort());
        side.accept(RECEIVES);
        side.awaitTrue(() -> side.ended);
    }
}
