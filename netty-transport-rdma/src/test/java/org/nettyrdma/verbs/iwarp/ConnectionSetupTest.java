package org.nettyrdma.verbs.iwarp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.ServiceLoader;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.verbs.ConnectionRequest;
import org.nettyrdma.verbs.QueuePairAttributes;
import org.nettyrdma.verbs.VerbsProvider;
import org.nettyrdma.verbs.iwarp.IwarpTestPeer.Endpoint;
import org.nettyrdma.verbs.support.SteeringTagGenerator;

/** How connections come about, or not. */
class ConnectionSetupTest {

    private static final String REQUEST_KEY = "4d504120494420526571204672616d65";
    private static final String REPLY_KEY = "4d504120494420526570204672616d65";

    private static final String REQUEST = REQUEST_KEY + "10 02 0004 0010 0010";

    private long now;
    private IwarpTestPeer peer;

    @BeforeEach
    void setUp() throws IOException {
        peer = new IwarpTestPeer(() -> now, new SteeringTagGenerator());
        peer.memoryBytes = 4096;
    }

    @AfterEach
    void tearDown() {
        peer.close();
    }

    @Test
    void shouldBeFoundAndAvailable() {
        VerbsProvider found = ServiceLoader.load(VerbsProvider.class).stream().map(ServiceLoader.Provider::get)
                .filter(provider -> provider.name().equals("iwarp")).findAny().orElseThrow();
        assertNull(found.unavailabilityCause());
        assertTrue(found.capabilities().receiverWaits());
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 252, 508})
    void shouldCarryPrivateDataBothWays(int length) throws IOException {
        byte[] data = new byte[length];
        Arrays.fill(data, (byte) 7);
        Endpoint client = peer.newEndpoint(IwarpTestPeer.ATTRIBUTES);
        client.queuePair.connect(peer.listen(), null, ByteBuffer.wrap(data));
        ConnectionRequest request = peer.awaitRequest();
        assertEquals(Hex.of(data), Hex.of(request.privateData()));
        assertTrue(request.privateData().isReadOnly());
        Endpoint server = peer.newEndpoint(IwarpTestPeer.ATTRIBUTES, request);
        server.queuePair.accept(ByteBuffer.wrap(data));
        client.awaitEstablished();
        server.awaitEstablished();
        assertEquals(Hex.of(data), Hex.of(client.parameters.privateData()));
        assertEquals(Hex.of(data), Hex.of(server.parameters.privateData()));
        assertEquals(client.queuePair.localAddress(), server.queuePair.remoteAddress());
        assertEquals(client.queuePair.remoteAddress(), server.queuePair.localAddress());
    }

    @Test
    void shouldRefuseTooMuchPrivateData() throws IOException {
        Endpoint client = peer.newEndpoint(IwarpTestPeer.ATTRIBUTES);
        SocketAddress address = peer.listen();
        assertThrows(IllegalArgumentException.class,
                () -> client.queuePair.connect(address, null, ByteBuffer.allocate(509)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "::1"})
    void shouldConnectOverBothFamilies(String host) throws IOException {
        SocketAddress address;
        try {
            address = peer.listen(new InetSocketAddress(host, 0));
        } catch (IOException e) {
            assumeTrue(false, "no " + host + " here: " + e);
            return;
        }
        Endpoint client = peer.newEndpoint(IwarpTestPeer.ATTRIBUTES);
        client.queuePair.connect(address, new InetSocketAddress(host, 0), IwarpTestPeer.NO_DATA);
        Endpoint server = peer.accept(IwarpTestPeer.ATTRIBUTES);
        client.awaitEstablished();
        assertEquals(((InetSocketAddress) address).getAddress(),
                ((InetSocketAddress) server.queuePair.remoteAddress()).getAddress());
    }

    @Test
    void shouldTellWhenNobodyListens() throws IOException {
        SocketAddress address = peer.listen();
        peer.listener.close();
        peer.settle();
        Endpoint client = peer.newEndpoint(IwarpTestPeer.ATTRIBUTES);
        client.receive(1, 0, 10);
        client.queuePair.connect(address, null, IwarpTestPeer.NO_DATA);
        assertInstanceOf(ConnectException.class, client.awaitConnectFailure());
        client.expectFlushed(1);
        client.receive(2, 0, 10);
        client.expectFlushed(2);
    }

    @Test
    void shouldTellAnUnresolvedAddressAtOnce() {
        Endpoint client = peer.newEndpoint(IwarpTestPeer.ATTRIBUTES);
        assertThrows(UnknownHostException.class, () -> client.queuePair.connect(
                InetSocketAddress.createUnresolved("nowhere.invalid", 1), null, IwarpTestPeer.NO_DATA));
    }

    @Test
    void shouldPassOnARejectionWithItsData() throws IOException {
        Endpoint client = peer.connect(IwarpTestPeer.ATTRIBUTES);
        ConnectionRequest request = peer.awaitRequest();
        request.reject(ByteBuffer.wrap(new byte[] {1, 2, 3}));
        request.reject(ByteBuffer.wrap(new byte[] {4}));
        assertInstanceOf(ConnectException.class, client.awaitConnectFailure());
        assertEquals("010203", Hex.of(client.rejectData));
        assertThrows(IOException.class, () -> peer.newEndpoint(IwarpTestPeer.ATTRIBUTES, request));
    }

    @Test
    void shouldGiveUpWaitingForTheReply() throws IOException {
        try (ServerSocketChannel silent = RawPeer.listen()) {
            Endpoint client = peer.connect(IwarpTestPeer.ATTRIBUTES, silent.getLocalAddress());
            try (RawPeer raw = RawPeer.accept(peer, silent)) {
                raw.receive(24);
                now += 119_999_999_999L;
                peer.settle();
                assertNull(client.connectFailure);
                now += 1;
                assertInstanceOf(SocketTimeoutException.class, client.awaitConnectFailure());
                raw.expectEnd();
            }
        }
    }

    @Test
    void shouldAskPeersThatAreSilentWhetherTheyAreStillThere() throws IOException {
        try (RawPeer raw = RawPeer.connect(peer, peer.listen())) {
            raw.send(REQUEST);
            IwarpConnectionRequest request = (IwarpConnectionRequest) peer.awaitRequest();
            assertTrue(request.channel().getOption(StandardSocketOptions.SO_KEEPALIVE));
            for (SocketOption<?> option : request.channel().supportedOptions()) {
                if (option.name().equals("TCP_KEEPIDLE")) {
                    assertEquals(60, request.channel().getOption(option));
                }
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', value = {
        "wrong key          | 4d504120494420526571204672616d66 10 02 0004 0010 0010",
        "key of a reply     | 4d504120494420526570204672616d65 10 02 0004 0010 0010",
        "revision 0         | 4d504120494420526571204672616d65 00 00 0000",
        "revision 3         | 4d504120494420526571204672616d65 10 03 0004 0010 0010",
        "too much data      | 4d504120494420526571204672616d65 10 02 0201 0010 0010",
        "no read depths     | 4d504120494420526571204672616d65 10 02 0003 0010 00",
        "a line of text     | 68656c6c6f0d0a",
    })
    void shouldDropInvalidRequests(String what, String request) throws IOException {
        try (RawPeer raw = RawPeer.connect(peer, peer.listen())) {
            raw.send(request).receiveAll();
        }
        assertEquals(1, peer.provider.statistics().invalidRequests());
        assertTrue(peer.requests.isEmpty());
    }

    @Test
    void shouldDropPeersThatLeave() throws IOException {
        try (RawPeer raw = RawPeer.connect(peer, peer.listen())) {
            raw.send(REQUEST_KEY).shutdownOutput();
            raw.expectEnd();
        }
        assertEquals(1, peer.provider.statistics().invalidRequests());
    }

    /** A load balancer that looks whether somebody listens asks for nothing. */
    @Test
    void shouldCountNoRequestOfPeersThatOnlyConnect() throws IOException {
        try (RawPeer raw = RawPeer.connect(peer, peer.listen())) {
            raw.shutdownOutput();
            raw.expectEnd();
        }
        assertEquals(0, peer.provider.statistics().invalidRequests());
    }

    /** RFC 5044, section 7.1.2: markers are sent when asked for. This side cannot, and says no. */
    @Test
    void shouldRejectAPeerThatWantsMarkers() throws IOException {
        try (RawPeer raw = RawPeer.connect(peer, peer.listen())) {
            raw.send(REQUEST_KEY + "90 02 0004 0010 0010");
            raw.expect(REPLY_KEY + "30 02 0004 0000 0000").expectEnd();
        }
    }

    /** What a request gets for an answer, from a side with read depths of 16 and 16 that does not ask for a CRC. */
    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', value = {
        "revision 2                   | 10 02 0004 0010 0010 | 10 02 0004 0010 0010 | 16 | 16 | false",
        "smaller depths               | 10 02 0004 0003 0005 | 10 02 0004 0005 0003 |  5 |  3 | false",
        "larger depths                | 10 02 0004 3fff 0080 | 10 02 0004 0010 0010 | 16 | 16 | false",
        "CRC                          | 50 02 0004 0010 0010 | 50 02 0004 0010 0010 | 16 | 16 | true",
        "revision 2, not enhanced     | 00 02 0000           | 00 02 0000           | 16 | 16 | false",
        "revision 1                   | 00 01 0000           | 00 01 0000           | 16 | 16 | false",
        "revision 1 with CRC          | 40 01 0000           | 40 01 0000           | 16 | 16 | true",
        "reserved bit of revision 1   | 10 01 0000           | 00 01 0000           | 16 | 16 | false",
        "reserved bits                | 1f 02 0004 0010 0010 | 10 02 0004 0010 0010 | 16 | 16 | false",
        "rejecting request            | 30 02 0004 0010 0010 | 10 02 0004 0010 0010 | 16 | 16 | false",
        "peer-to-peer, all offered    | 10 02 0004 c010 c010 | 10 02 0004 8010 8010 | 16 | 16 | false",
        "peer-to-peer, none offered   | 10 02 0004 8010 0010 | 10 02 0004 8010 8010 | 16 | 16 | false",
        "peer-to-peer with Read       | 10 02 0004 8010 4000 | 10 02 0004 8001 4010 |  1 | 16 | false",
        "peer-to-peer with Send       | 10 02 0004 c010 0010 | 10 02 0004 c010 0010 | 16 | 16 | false",
        "options without peer-to-peer | 10 02 0004 4010 c010 | 10 02 0004 0010 0010 | 16 | 16 | false",
    })
    void shouldAnswerRequestsOfAllKinds(String what, String request, String reply, int inbound, int outbound, boolean crc)
            throws IOException {
        try (RawPeer raw = RawPeer.connect(peer, peer.listen())) {
            raw.send(REQUEST_KEY + request);
            Endpoint server = peer.accept(IwarpTestPeer.ATTRIBUTES);
            server.awaitEstablished();
            raw.expect(REPLY_KEY + reply);
            assertEquals(inbound, server.parameters.inboundReadDepth());
            assertEquals(outbound, server.parameters.outboundReadDepth());
            assertEquals(crc, server.parameters.checksum());
            assertEquals(Hex.bytes(reply)[1], server.parameters.mpaRevision());
            assertFalse(server.parameters.privateData().hasRemaining());
        }
    }

    /** Revision 1 leaves all of the 512 bytes to the user. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 4, 511, 512})
    void shouldTakePrivateDataOfRevisionOne(int length) throws IOException {
        String data = "5a".repeat(length);
        try (RawPeer raw = RawPeer.connect(peer, peer.listen())) {
            raw.send(REQUEST_KEY + "00 01" + String.format("%04x", length) + data);
            assertEquals(data, Hex.of(peer.awaitRequest().privateData()));
        }
    }

    /** In revision 2 the first four of the 512 bytes are the read depths (RFC 6581, section 6). */
    @Test
    void shouldTakePrivateDataOfEveryLength() throws IOException {
        SocketAddress address = peer.listen();
        for (int length = 0; length <= 508; length++) {
            String data = "5a".repeat(length);
            try (RawPeer raw = RawPeer.connect(peer, address)) {
                raw.send(REQUEST_KEY + "10 02" + String.format("%04x", 4 + length) + "0010 0010" + data);
                ConnectionRequest request = peer.awaitRequest();
                assertEquals(data, Hex.of(request.privateData()));
                request.reject(ByteBuffer.allocate(0));
            }
        }
    }

    /** RFC 5044, section 7.1.2 forbids it to the initiator, but what it sends early is only waiting in TCP's buffers. */
    @Test
    void shouldTakeAnFpduThatDoesNotWaitForTheReply() throws IOException {
        try (RawPeer raw = RawPeer.connect(peer, peer.listen())) {
            raw.send(REQUEST_KEY + "10 02 0004 0010 0010" + "0014 4143 00000000 00000000 00000001 00000000 abcd 0000 00000000");
            Endpoint server = peer.newEndpoint(IwarpTestPeer.ATTRIBUTES, peer.awaitRequest());
            server.receive(1, 0, 16).queuePair.accept(IwarpTestPeer.NO_DATA);
            server.expectCompletion(1, 2);
        }
    }

    /** RFC 6581, section 9.2: the empty Send by which the initiator announces itself is no message, but it is counted. */
    @Test
    void shouldNotDeliverTheSendThatAnnouncesAPeer() throws IOException {
        try (RawPeer raw = RawPeer.connect(peer, peer.listen())) {
            raw.send(REQUEST_KEY + "10 02 0004 c010 0010");
            Endpoint server = peer.accept(IwarpTestPeer.ATTRIBUTES);
            server.receive(1, 0, 16).send(2, 0, 0);
            raw.receive(24);
            raw.send("0012 4143 00000000 00000000 00000001 00000000 00000000");
            raw.expect("0012 4143 00000000 00000000 00000001 00000000 00000000");
            raw.send("0014 4143 00000000 00000000 00000002 00000000 abcd 0000 00000000");
            server.expectCompletion(2, 0);
            server.expectCompletion(1, 2);
        }
    }

    /** What an initiator with read depths of 16 (asked for: 31) and 8 makes of a reply. */
    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', value = {
        "equal                    | 10 02 0004 0008 0010 | 16 | 8  | false",
        "fewer                    | 10 02 0004 0002 0004 |  4 | 2  | false",
        "more of its own          | 10 02 0004 0080 0004 |  4 | 8  | false",
        "none                     | 10 02 0004 0000 0000 |  0 | 0  | false",
        "CRC that was not wanted  | 50 02 0004 0008 0010 | 16 | 8  | true",
        "left to the users        | 10 02 0004 3fff 3fff | 16 | 8  | false",
        "not enhanced             | 00 02 0000           | 16 | 8  | false",
        "revision 1               | 00 01 0000           | 16 | 8  | false",
    })
    void shouldTakeRepliesOfAllKinds(String what, String reply, int inbound, int outbound, boolean crc) throws IOException {
        try (ServerSocketChannel listener = RawPeer.listen()) {
            Endpoint client = peer.connect(new QueuePairAttributes(8, 8, 31, 8, false, 1000), listener.getLocalAddress());
            try (RawPeer raw = RawPeer.accept(peer, listener)) {
                raw.expect(REQUEST_KEY + "10 02 0004 0010 0008").send(REPLY_KEY + reply);
                client.awaitEstablished();
                assertEquals(inbound, client.parameters.inboundReadDepth());
                assertEquals(outbound, client.parameters.outboundReadDepth());
                assertEquals(crc, client.parameters.checksum());
                assertEquals(Hex.bytes(reply)[1], client.parameters.mpaRevision());
                if (outbound == 0) {
                    assertThrows(IOException.class, () -> client.read(1, 0, 1, 1, 0));
                }
            }
        }
    }

    /** RFC 5044, section 7.1.2: it is enough that one side asks for the CRC, and here that is this one. */
    @Test
    void shouldUseTheCrcThatThePeerHasNotAskedFor() throws IOException {
        try (RawPeer raw = RawPeer.connect(peer, peer.listen())) {
            raw.send(REQUEST_KEY + "10 02 0004 0010 0010");
            Endpoint server = peer.accept(IwarpTestPeer.CHECKSUM);
            server.awaitEstablished();
            raw.expect(REPLY_KEY + "50 02 0004 0010 0010");
            assertTrue(server.parameters.checksum());
        }
        try (ServerSocketChannel listener = RawPeer.listen()) {
            Endpoint client = peer.connect(IwarpTestPeer.CHECKSUM, listener.getLocalAddress());
            try (RawPeer raw = RawPeer.accept(peer, listener)) {
                raw.expect(REQUEST_KEY + "50 02 0004 0010 0010").send(REPLY_KEY + "10 02 0004 0010 0010");
                client.awaitEstablished();
                assertTrue(client.parameters.checksum());
                raw.expect("000e c140 00000000 0000000000000000 a30572ab");
            }
        }
    }

    @Test
    void shouldTerminateWhenThePeerWantsMoreReadsThanOffered() throws IOException {
        try (ServerSocketChannel listener = RawPeer.listen()) {
            Endpoint client = peer.connect(IwarpTestPeer.ATTRIBUTES, listener.getLocalAddress());
            try (RawPeer raw = RawPeer.accept(peer, listener)) {
                raw.receive(24);
                raw.send(REPLY_KEY + "10 02 0004 0010 0011");
                raw.expect("0016 4147 00000000 00000002 00000001 00000000 20060000 00000000").expectEnd();
                assertInstanceOf(ProtocolViolationException.class, client.awaitConnectFailure());
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', value = {
        "wrong key  | 4d504120494420526570204672616d64 10 02 0004 0010 0010",
        "a greeting | 3232300d0a",
        "a request  | 4d504120494420526571204672616d65 10 02 0004 0010 0010",
        "revision 3 | 4d504120494420526570204672616d65 10 03 0004 0010 0010",
        "no depths  | 4d504120494420526570204672616d65 10 02 0000",
        "much data  | 4d504120494420526570204672616d65 10 02 0201 0010 0010",
    })
    void shouldFailOnInvalidReplies(String what, String reply) throws IOException {
        try (ServerSocketChannel listener = RawPeer.listen()) {
            Endpoint client = peer.connect(IwarpTestPeer.ATTRIBUTES, listener.getLocalAddress());
            try (RawPeer raw = RawPeer.accept(peer, listener)) {
                raw.send(reply);
                assertInstanceOf(ProtocolViolationException.class, client.awaitConnectFailure());
            }
        }
    }

    /** As a server on plain TCP answers, which cannot read a request and waits for more behind its answer. */
    @Test
    void shouldSayThatThePeerMayBeOnPlainTcp() throws IOException {
        try (ServerSocketChannel listener = RawPeer.listen()) {
            Endpoint client = peer.connect(IwarpTestPeer.ATTRIBUTES, listener.getLocalAddress());
            try (RawPeer raw = RawPeer.accept(peer, listener)) {
                raw.send("2d455252"); // -ERR
                Throwable cause = client.awaitConnectFailure();
                assertTrue(cause.getMessage().contains("plain TCP"), cause::toString);
            }
        }
    }

    @Test
    void shouldFailWhenThePeerWantsMarkers() throws IOException {
        try (ServerSocketChannel listener = RawPeer.listen()) {
            Endpoint client = peer.connect(IwarpTestPeer.ATTRIBUTES, listener.getLocalAddress());
            try (RawPeer raw = RawPeer.accept(peer, listener)) {
                raw.send(REPLY_KEY + "90 02 0004 0010 0010");
                assertInstanceOf(ConnectException.class, client.awaitConnectFailure());
            }
        }
    }

    @Test
    void shouldFailWhenThePeerHangsUp() throws IOException {
        try (ServerSocketChannel listener = RawPeer.listen()) {
            Endpoint client = peer.connect(IwarpTestPeer.ATTRIBUTES, listener.getLocalAddress());
            try (RawPeer raw = RawPeer.accept(peer, listener)) {
                raw.receive(24);
                raw.shutdownOutput();
                Throwable cause = assertInstanceOf(EOFException.class, client.awaitConnectFailure());
                assertTrue(cause.getMessage().contains("plain TCP"), cause::toString);
            }
        }
    }

    @Test
    void shouldReportAConnectionThatWasGivenUp() throws IOException {
        Endpoint client = peer.connect(IwarpTestPeer.ATTRIBUTES);
        client.queuePair.moveToError();
        client.awaitConnectFailure();
        Endpoint silent = peer.connect(IwarpTestPeer.ATTRIBUTES);
        silent.queuePair.close();
        peer.settle();
        assertNull(silent.connectFailure);
        assertThrows(IllegalStateException.class, () -> silent.receive(1, 0, 1));
    }

    @Test
    void shouldLeaveRequestsInTheBacklogWhileNotAccepting() throws IOException {
        peer.listen();
        peer.listener.setAccepting(false);
        peer.connect(IwarpTestPeer.ATTRIBUTES);
        peer.settle();
        assertTrue(peer.requests.isEmpty());
        peer.listener.setAccepting(true);
        peer.awaitRequest();
    }

    @Test
    void shouldDropRequestsWhenTheListenerCloses() throws IOException {
        try (RawPeer raw = RawPeer.connect(peer, peer.listen())) {
            peer.settle();
            peer.listener.close();
            raw.expectEnd();
        }
    }

    @Test
    void shouldServeTwoHundredConnections() throws IOException {
        List<Endpoint> clients = new ArrayList<>();
        List<Endpoint> servers = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            clients.add(peer.connect(IwarpTestPeer.ATTRIBUTES));
        }
        for (int i = 0; i < 200; i++) {
            Endpoint server = peer.accept(IwarpTestPeer.ATTRIBUTES);
            servers.add(server.receive(1, 0, 64));
        }
        for (Endpoint client : clients) {
            client.awaitEstablished();
            client.fill(0, new byte[] {(byte) client.number, 1});
            client.receive(1, 64, 64).send(2, 0, 2);
        }
        for (Endpoint server : servers) {
            server.expectCompletion(1, 2);
            server.send(2, 0, 2);
            server.expectCompletion(2, 0);
        }
        for (Endpoint client : clients) {
            client.expectCompletion(2, 0);
            client.expectCompletion(1, 2);
            assertArrayEquals(client.bytes(0, 2), client.bytes(64, 2));
        }
    }

    @Test
    void shouldTellWhatItCannotDo() {
        assertThrows(IllegalArgumentException.class, () -> peer.provider.registerMemory(ByteBuffer.allocate(1)));
        Endpoint client = peer.newEndpoint(IwarpTestPeer.ATTRIBUTES);
        assertThrows(IllegalArgumentException.class, () -> client.queuePair.expose(client.region, 0, 0, 1));
        assertThrows(IllegalArgumentException.class, () -> client.queuePair.expose(client.region, 0, 1, 0));
        assertThrows(IndexOutOfBoundsException.class, () -> client.queuePair.expose(client.region, 4096, 1, 1));
        assertThrows(IllegalArgumentException.class, () -> client.queuePair.remoteOffset(1));
        assertThrows(IllegalStateException.class, () -> client.queuePair.accept(IwarpTestPeer.NO_DATA));
    }
}
