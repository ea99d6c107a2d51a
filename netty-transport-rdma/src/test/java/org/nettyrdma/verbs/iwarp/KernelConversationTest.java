package org.nettyrdma.verbs.iwarp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.util.ArrayDeque;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.WorkCompletionStatus;
import org.nettyrdma.verbs.iwarp.IwarpTestPeer.Completion;
import org.nettyrdma.verbs.iwarp.IwarpTestPeer.Endpoint;

/**
 * Conversations with the NFS server and client of Linux 6.1 over siw, as they were on the wire. One side is played from the
 * recorded bytes, the other is the provider, which must produce the recorded bytes, CRCs included.
 */
class KernelConversationTest {

    /** Connection private data of RFC 8797: magic, version 1, remote invalidation, 4096 bytes each way. */
    private static final String PRIVATE_DATA = "f6ab0e1801010303";
    /** The empty RDMA Write of RFC 5040, section 5.1 with which this side announces itself. */
    private static final String EMPTY_WRITE = "000e c140 00000000 0000000000000000 a30572ab";
    private static final String EMPTY_WRITE_WITHOUT_CRC = "000e c140 00000000 0000000000000000 00000000";

    // RPC-over-RDMA messages as they were sent and received.
    private static final String NULL_CALL =
            "00000001 00000001 00000020 00000000 00000000 00000000 00000000"
            + "00000001 00000000 00000002 000186a3 00000003 00000000 0000000000000000 0000000000000000";
    private static final String NULL_REPLY =
            "00000001 00000001 00000040 00000000 00000000 00000000 00000000 00000001 00000001 00000000 0000000000000000 00000000";

    private final ArrayDeque<Integer> steeringTags = new ArrayDeque<>();
    private long nowNanos;
    private IwarpTestPeer peer;
    private ServerSocketChannel listener;
    private RawPeer kernel;
    private Endpoint endpoint;

    @BeforeEach
    void setUp() throws IOException {
        peer = new IwarpTestPeer(() -> nowNanos, steeringTags::remove);
        listener = RawPeer.listen();
    }

    @AfterEach
    void tearDown() throws IOException {
        peer.close();
        listener.close();
        if (kernel != null) {
            kernel.close();
        }
    }

    private void connectToServer() throws IOException {
        endpoint = peer.newEndpoint(IwarpTestPeer.CHECKSUM);
        endpoint.queuePair.connect(listener.getLocalAddress(), null, ByteBuffer.wrap(Hex.bytes(PRIVATE_DATA)));
        kernel = RawPeer.accept(peer, listener);
        kernel.expect("4d504120494420526571204672616d65 50 02 000c 0010 0010" + PRIVATE_DATA);
        kernel.send("4d504120494420526570204672616d65 50 02 000c 0010 0010 f6ab0e1801000303");
        endpoint.awaitEstablished();
        kernel.expect(EMPTY_WRITE);
    }

    @Test
    void shouldAgreeWithALinuxServer() throws IOException {
        connectToServer();
        assertEquals("f6ab0e1801000303", Hex.of(endpoint.parameters.privateData()));
        assertEquals(16, endpoint.parameters.inboundReadDepth());
        assertEquals(16, endpoint.parameters.outboundReadDepth());
        assertTrue(endpoint.parameters.checksum());
    }

    /** RFC 5041, section 4.3: untagged segments on queue 0, message sequence numbers from 1. */
    @Test
    void shouldExchangeSends() throws IOException {
        connectToServer();
        endpoint.receive(1, 0, 4096).receive(2, 4096, 4096);
        send(10, NULL_CALL);
        kernel.expect("0056 4143 00000000 00000000 00000001 00000000" + NULL_CALL + "ca93297d");
        kernel.send("0046 4143 00000000 00000000 00000001 00000000" + NULL_REPLY + "d3276929");
        endpoint.expectCompletion(10, 0);
        endpoint.expectCompletion(1, 52);
        assertEquals(Hex.digits(NULL_REPLY), Hex.of(endpoint.bytes(0, 52)));
    }

    /** RFC 5040, sections 4.4 and 5.2: a Read Request on queue 1, answered with the sink's tag and offset. */
    @Test
    void shouldAnswerARead() throws IOException {
        connectToServer();
        String rpc = "00000002 00000000 00000002 000186a3 00000003 00000000 00000000 00000000 00000000 00000000";
        endpoint.fill(1000, Hex.bytes(rpc));
        expose(0x2200, 1000, 40, QueuePair.ACCESS_REMOTE_READ);
        kernel.send("002e 4141 00000000 00000001 00000001 00000000"
                + "d1f69401 ff3d5178c479c000 00000028 00002200 0000000000000000 d856a609");
        kernel.expect("0036 c142 d1f69401 ff3d5178c479c000" + rpc + "c6662d91");
    }

    /** RFC 5040, section 5.3: a Send that withdraws the tag of the call. */
    @Test
    void shouldLetASendInvalidateATag() throws IOException {
        connectToServer();
        endpoint.receive(1, 0, 4096).receive(2, 4096, 4096);
        expose(0x2200, 1000, 40, QueuePair.ACCESS_REMOTE_READ);
        kernel.send("0046 4143 00000000 00000000 00000001 00000000" + NULL_REPLY + "d3276929");
        endpoint.expectCompletion(1, 52);
        kernel.send("0046 4144 00002200 00000000 00000002 00000000 00000002 00000001 00000040 00000000"
                + "00000000 00000000 00000000 00000002 00000001 00000000 00000000 00000000 00000000 6dd31785");
        assertEquals(new Completion(2, WorkCompletionStatus.SUCCESS, 52, true, 0x2200), endpoint.awaitCompletion());
        assertTrue(endpoint.queuePair.invalidate(9, 0x2200));
    }

    /** RFC 5040, section 5.1: a tagged segment into memory that is open for writing. */
    @Test
    void shouldTakeAnRdmaWrite() throws IOException {
        connectToServer();
        expose(0x3300, 2000, 0x140, QueuePair.ACCESS_REMOTE_WRITE);
        String rpc = "00000003 00000001 00000000 00000000 00000000 00000000";
        kernel.send("0026 c140 00003300 0000000000000040" + rpc + "ab68f367");
        peer.pump("the Write", () -> Hex.of(endpoint.bytes(2064, 24)).equals(Hex.digits(rpc)));
    }

    /** RFC 5044, section 4: pad bytes make the FPDU a multiple of four; messages and offsets go on counting. */
    @Test
    void shouldSendAndPadAMessageOfOddLength() throws IOException {
        connectToServer();
        for (int i = 1; i <= 6; i++) {
            send(i, "00");
            kernel.receive(28);
        }
        String call = "00000007 00000001 00000020 00000000 00000000 00000000 00000000 00000007 00000000 00000002 000186a3"
                + "00000003 00000000 00000000 00000000 00000000 00000000 a5";
        send(7, call);
        kernel.expect("0057 4143 00000000 00000000 00000007 00000000" + call + "000000 5a78488d");
    }

    /** Two segments of one RDMA Write, of which the second is padded, by RFC 5041, section 4.2. */
    @Test
    void shouldTakeASegmentedRdmaWrite() throws IOException {
        connectToServer();
        expose(0x3300, 0, 0x80, QueuePair.ACCESS_REMOTE_WRITE);
        kernel.send("0016 8140 00003300 0000000000000040 0001020304050607 d1d2a9b5");
        kernel.send("0013 c140 00003300 0000000000000048 08090a0b0c 000000 f46e3a31");
        peer.pump("the Write", () -> Hex.of(endpoint.bytes(0x40, 13)).equals("000102030405060708090a0b0c"));
    }

    /** An empty Send uses a receive and a sequence number; an empty Write nothing. */
    @Test
    void shouldTakeEmptyMessages() throws IOException {
        connectToServer();
        endpoint.receive(1, 0, 0);
        kernel.send(EMPTY_WRITE).send("0012 4143 00000000 00000000 00000001 00000000 587be8c4");
        endpoint.expectCompletion(1, 0);
    }

    /** The answer of siw to a Write with a bad tag, in its own encoding; the Write itself is long complete. */
    @Test
    void shouldUnderstandATerminateOfSiw() throws IOException {
        connectToServer();
        endpoint.fill(0, "abcd".getBytes());
        endpoint.write(1, 0, 4, 0x12345600, 0x1000);
        kernel.expect("0012 c140 12345600 0000000000001000 61626364 025a6588");
        endpoint.expectCompletion(1, 0);
        kernel.send("0026 4147 00000000 00000002 00000001 00000000 11000300 0004 c140 12345600 0000000000001000 e6db6dee");
        kernel.shutdownOutput();
        PeerTerminatedException cause = assertInstanceOf(PeerTerminatedException.class, endpoint.awaitDisconnect());
        assertTrue(cause.getMessage().contains("invalid steering tag"), cause.getMessage());
        assertTrue(cause.getMessage().contains("WRITE with steering tag 0x12345600"), cause.getMessage());
    }

    /** The call of a Linux client with a Read chunk, and no CRC: its field is there and zero. */
    @Test
    void shouldAnswerALinuxClient() throws IOException {
        String call = "caf06022 00000001 00000080 00000000 00000001 00000070 ee609601 00001001 caf0602205e1f000"
                + "000000000000000000000000 caf06022 0000000000000002 000186a30000000300000007 000000010000001c"
                + "0000000000000006286e6f6e65290000 000000000000000000000000 0000000000000000 00000014"
                + "01000101000000006af76ab30300000000000000 0000000000000000 00001001 00000002 00001001";
        kernel = RawPeer.connect(peer, peer.listen());
        kernel.send("4d504120494420526571204672616d65 10 02 000c 0080 0000" + PRIVATE_DATA);
        endpoint = peer.newEndpoint(IwarpTestPeer.ATTRIBUTES, peer.awaitRequest());
        endpoint.receive(1, 0, 4096);
        endpoint.queuePair.accept(ByteBuffer.wrap(Hex.bytes(PRIVATE_DATA)));
        endpoint.awaitEstablished();
        kernel.expect("4d504120494420526570204672616d65 10 02 000c 0000 0010" + PRIVATE_DATA);
        assertEquals(PRIVATE_DATA, Hex.of(endpoint.parameters.privateData()));
        assertEquals(16, endpoint.parameters.outboundReadDepth());
        assertEquals(0, endpoint.parameters.inboundReadDepth());

        kernel.send("00b6 4143 00000000 00000000 00000001 00000000" + call + "00000000");
        endpoint.expectCompletion(1, 164);
        assertEquals(Hex.digits(call), Hex.of(endpoint.bytes(0, 164)));

        steeringTags.add(0x00abcd01);
        endpoint.read(2, 8192, 4097, 0xee609601, 0xcaf0602205e1f000L);
        kernel.expect("002e 4141 00000000 00000001 00000001 00000000"
                + "00abcd01 0000000000000000 00001001 ee609601 caf0602205e1f000 00000000");
        kernel.send("05aa 8142 00abcd01 0000000000000000" + "5a".repeat(1436) + "00000000");
        kernel.send("05aa 8142 00abcd01 000000000000059c" + "5b".repeat(1436) + "00000000");
        kernel.send("04d7 c142 00abcd01 0000000000000b38" + "5c".repeat(1225) + "000000 00000000");
        endpoint.expectCompletion(2, 4097);
        assertEquals("5a".repeat(1436) + "5b".repeat(1436) + "5c".repeat(1225), Hex.of(endpoint.bytes(8192, 4097)));

        endpoint.post(endpoint.request.sendWithInvalidate(endpoint.id(3), 0xee609601).addElement(endpoint.region, 0, 4));
        kernel.expect("0016 4144 ee609601 00000000 00000001 00000000 caf06022 00000000");
        kernel.shutdownOutput();
        assertNull(endpoint.awaitDisconnect());
        kernel.expectEnd();
    }

    /** siw fails a connection on which the responder speaks before the initiator (RFC 5044, section 7.1.2). */
    @Test
    void shouldNotSpeakBeforeTheInitiatorHas() throws IOException {
        kernel = RawPeer.connect(peer, peer.listen());
        kernel.send("4d504120494420526571204672616d65 10 02 0004 0080 0000");
        endpoint = peer.newEndpoint(IwarpTestPeer.ATTRIBUTES, peer.awaitRequest());
        endpoint.queuePair.accept(IwarpTestPeer.NO_DATA);
        endpoint.awaitEstablished();
        endpoint.send(1, 0, 4);
        kernel.expect("4d504120494420526570204672616d65 10 02 0004 0000 0010");
        peer.settle();
        assertEquals(List.of(), List.copyOf(endpoint.completions));
        kernel.send(EMPTY_WRITE_WITHOUT_CRC);
        kernel.expect("0016 4143 00000000 00000000 00000001 00000000 00000000 00000000");
        endpoint.expectCompletion(1, 0);
    }

    /** siw can overlook what arrives right behind its reply until more arrives. */
    @Test
    void shouldAnnounceItselfAgain() throws IOException {
        connectToServer();
        nowNanos += 99_000_000;
        peer.settle();
        nowNanos += 1_000_000;
        kernel.expect(EMPTY_WRITE);
        nowNanos += 10_000_000_000L;
        peer.settle();
        endpoint.queuePair.moveToError();
        kernel.expectEnd();
    }

    /** A peer that never ends its output gets what was sent, the end of it, and in the end a closed socket. */
    @Test
    void shouldNotWaitForeverForThePeerToClose() throws IOException {
        connectToServer();
        send(1, "00");
        endpoint.queuePair.moveToError();
        endpoint.queuePair.close();
        kernel.receive(28);
        kernel.expectEnd();
        kernel.send(EMPTY_WRITE); // thrown away, without a reset
        peer.settle();
        kernel.send(EMPTY_WRITE);
        nowNanos += 2_000_000_000L;
        peer.settle();
        assertThrows(IOException.class, () -> {
            while (true) {
                kernel.send(EMPTY_WRITE);
            }
        });
    }

    /** A program that sends first, such as one with rsockets, may still have overlooked what was sent to it. */
    @Test
    void shouldAnnounceItselfAgainThoughSomethingWasHeard() throws IOException {
        connectToServer();
        endpoint.receive(1, 0, 0);
        kernel.send("0012 4143 00000000 00000000 00000001 00000000 587be8c4");
        endpoint.expectCompletion(1, 0);
        nowNanos += 100_000_000;
        kernel.expect(EMPTY_WRITE);
        nowNanos += 10_000_000_000L;
        peer.settle();
        endpoint.queuePair.moveToError();
        kernel.expectEnd();
    }

    /**
     * A connection that ends about 100 ms after its beginning: siw has closed its socket behind what it sent, and TCP drops what
     * is still on its way when anything arrives at a closed socket.
     */
    @Test
    void shouldNotAnnounceItselfAgainOnceItHasAnswered() throws IOException {
        connectToServer();
        endpoint.receive(1, 0, 0);
        kernel.send("0012 4143 00000000 00000000 00000001 00000000 587be8c4");
        endpoint.expectCompletion(1, 0);
        send(10, NULL_CALL);
        kernel.expect("0056 4143 00000000 00000000 00000001 00000000" + NULL_CALL + "ca93297d");
        nowNanos += 10_000_000_000L;
        peer.settle();
        endpoint.queuePair.moveToError();
        kernel.expectEnd();
    }

    private void expose(int tag, int offset, int length, int access) throws IOException {
        steeringTags.add(tag);
        assertEquals(tag, endpoint.queuePair.expose(endpoint.region, offset, length, access));
        assertEquals(0, endpoint.queuePair.remoteOffset(tag));
    }

    private void send(int id, String message) throws IOException {
        byte[] bytes = Hex.bytes(message);
        endpoint.fill(100_000, bytes);
        endpoint.send(id, 100_000, bytes.length);
    }
}
