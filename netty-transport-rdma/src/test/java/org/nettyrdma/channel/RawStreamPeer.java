package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;

/**
 * The other end of a stream over iWARP, played byte by byte as a program in C does with rsockets, and without CRC. MPA is that of
 * RFC 5044, segments are those of RFC 5041 and RFC 5040. Memory of this side is an array: an RDMA Write to tag {@link #LIST_TAG}
 * is one to its target list, one to {@link #RING_TAG} one to its ring.
 */
final class RawStreamPeer implements AutoCloseable {

    static final int LIST_TAG = 0x0a0b0c0d;
    static final int RING_TAG = 0x01020304;
    static final int RING_BYTES = 65536;

    /** 384 credits, a target list of two entries at 0x1000, and the first half of a ring of 64 KiB at 0x10000. */
    static final String HELLO = "01 02 0180 000000 00" + "0000000000001000 0a0b0c0d 00000002"
            + "0000000000010000 01020304 00008000";

    private static final String REQUEST_KEY = "4d504120494420526571204672616d65";
    private static final String REPLY_KEY = "4d504120494420526570204672616d65";
    private static final int LIST_ADDRESS = 0x1000;
    private static final int RING_ADDRESS = 0x10000;
    private static final int SEND = 3;
    private static final int WRITE = 0;

    final byte[] list = new byte[32];
    final byte[] ring = new byte[RING_BYTES];
    private final Socket socket;
    private final DataInputStream in;
    private final OutputStream out;
    private int sendNumber;

    // What the other side has said of itself:
    ByteBuffer hello;
    int ringTag;
    int listTag;

    private RawStreamPeer(Socket socket) throws IOException {
        this.socket = socket;
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(StreamFixture.TIMEOUT_SECONDS * 1000);
        in = new DataInputStream(socket.getInputStream());
        out = socket.getOutputStream();
    }

    static byte[] hex(String digits) {
        return HexFormat.of().parseHex(digits.replaceAll("\\s", ""));
    }

    static String hex(byte[] bytes) {
        return HexFormat.of().formatHex(bytes);
    }

    /** Asks for a connection, with private data. */
    static RawStreamPeer request(InetSocketAddress address, String privateData) throws IOException {
        RawStreamPeer peer = new RawStreamPeer(new Socket(address.getAddress(), address.getPort()));
        byte[] data = hex(privateData);
        peer.out.write(hex(REQUEST_KEY + "00 01" + String.format("%04x", data.length) + hex(data)));
        return peer;
    }

    /** Asks for a connection and gets it. */
    static RawStreamPeer connect(InetSocketAddress address) throws IOException {
        RawStreamPeer peer = request(address, HELLO);
        peer.takeReply();
        // Half 1 of the ring, and as many messages as at first: so does a program in C at once.
        return peer.write(peer.listTag, 16, entry(RING_ADDRESS + RING_BYTES / 2, RING_TAG, RING_BYTES / 2)).send("80010080");
    }

    /** Takes up a connection. */
    static RawStreamPeer accept(ServerSocket listener, String privateData) throws IOException {
        RawStreamPeer peer = new RawStreamPeer(listener.accept());
        byte[] data = peer.expectFrame(REQUEST_KEY + "10 02");
        peer.takeHello(java.util.Arrays.copyOfRange(data, 4, data.length)); // behind the read depths of RFC 6581
        byte[] answer = hex(privateData);
        peer.out.write(hex(REPLY_KEY + "10 02" + String.format("%04x", answer.length + 4) + hex(data).substring(0, 8)
                + hex(answer)));
        return peer;
    }

    /** Reads the answer to the request. */
    void takeReply() throws IOException {
        takeHello(expectFrame(REPLY_KEY + "00 01"));
    }

    int port() {
        return socket.getLocalPort();
    }

    /** The other side has told it with its first message. */
    int tagOfSecondHalf() {
        return ByteBuffer.wrap(list).order(ByteOrder.LITTLE_ENDIAN).getInt(24);
    }

    private void takeHello(byte[] data) {
        hello = ByteBuffer.wrap(data);
        listTag = hello.getInt(16);
        ringTag = hello.getInt(32);
    }

    /** Reads a frame of MPA; returns its private data. */
    byte[] expectFrame(String start) throws IOException {
        byte[] expected = hex(start);
        assertEquals(hex(expected), hex(in.readNBytes(expected.length)));
        return in.readNBytes(in.readUnsignedShort());
    }

    /** A rejection of RFC 5044, without private data. */
    void expectRejection() throws IOException {
        assertEquals("", hex(expectFrame(REPLY_KEY + "20 01")));
    }

    /** Places bytes by an RDMA Write. */
    RawStreamPeer write(int tag, long offset, byte[] bytes) throws IOException {
        return fpdu("c1 40" + String.format("%08x %016x", tag, offset), bytes);
    }

    /** Sends a message. */
    RawStreamPeer send(byte[] message) throws IOException {
        sendNumber++;
        return fpdu("41 43 00000000 00000000" + String.format("%08x", sendNumber) + "00000000", message);
    }

    /** Sends a message of 32 bits, as written by a little-endian host. */
    RawStreamPeer send(String message) throws IOException {
        return send(hex(message));
    }

    /** Ends its output within a segment, as the system does for a program that was killed while it sent. */
    void endWithinSegment() throws IOException {
        out.write(hex("0100 c1 40"));
        socket.shutdownOutput();
    }

    private RawStreamPeer fpdu(String header, byte[] payload) throws IOException {
        byte[] head = hex(header);
        int length = head.length + payload.length;
        var bytes = new ByteArrayOutputStream();
        var data = new DataOutputStream(bytes);
        data.writeShort(length);
        data.write(head);
        data.write(payload);
        data.write(new byte[(4 - (length + 2) % 4) % 4 + 4]);
        out.write(bytes.toByteArray());
        return this;
    }

    /** Reads until a message arrives, and places what is written before; returns the message and what follows it in its Send. */
    byte[] receive() throws IOException {
        while (true) {
            int length = in.readUnsignedShort();
            byte[] segment = in.readNBytes(length);
            in.skipNBytes((4 - (length + 2) % 4) % 4 + 4);
            int opcode = segment[1] & 0xf;
            ByteBuffer header = ByteBuffer.wrap(segment);
            if (opcode == SEND) {
                return java.util.Arrays.copyOfRange(segment, 18, length);
            }
            assertEquals(WRITE, opcode, () -> "a segment " + hex(segment));
            place(header.getInt(2), header.getLong(6), java.util.Arrays.copyOfRange(segment, 14, length));
        }
    }

    private void place(int tag, long offset, byte[] bytes) {
        if (bytes.length == 0) {
            return; // names no memory
        }
        if (tag == LIST_TAG) {
            System.arraycopy(bytes, 0, list, (int) offset - LIST_ADDRESS, bytes.length);
        } else {
            assertEquals(RING_TAG, tag);
            System.arraycopy(bytes, 0, ring, (int) offset - RING_ADDRESS, bytes.length);
        }
    }

    /** Takes data until the other side disconnects. */
    void expectDisconnect() throws IOException {
        String message;
        do {
            message = hex(receive());
        } while (!message.equals("000000e0"));
    }

    void expect(String message) throws IOException {
        assertEquals(hex(hex(message)), hex(receive()));
    }

    /** Nothing but the end of the connection follows, perhaps behind messages of which nobody wants to know. */
    void expectEnd() throws IOException {
        try {
            while (true) {
                receive();
            }
        } catch (EOFException | java.net.SocketException e) {
            return;
        }
    }

    /** An entry as a little-endian host writes it. */
    static byte[] entry(long address, int key, int length) {
        return ByteBuffer.allocate(16).order(ByteOrder.LITTLE_ENDIAN).putLong(address).putInt(key).putInt(length).array();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
