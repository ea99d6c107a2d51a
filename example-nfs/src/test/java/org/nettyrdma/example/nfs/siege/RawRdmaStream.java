package org.nettyrdma.example.nfs.siege;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.HexFormat;
import java.util.Queue;

/** The same over iWARP (RFC 5040, 5041 and 5044), without markers and checksums: each message is one Send of one segment. */
final class RawRdmaStream extends RawStream {

    private static final int WRITE = 0xC140;
    private static final int SEND = 0x4143;
    private static final int READ_REQUEST = 0x4141;
    private static final int READ_RESPONSE = 0xC142;
    private static final int SETUP_BYTES = 20;
    private static final int ANSWER_MILLIS = 2000;
    private static final int SEGMENT_BYTES = 32_768;

    private final Queue<ByteBuffer> readRequests = new ArrayDeque<>();
    private ByteBuffer in;
    private ByteBuffer response = ByteBuffer.allocate(0);
    private int nextSequenceNumber = 1;

    private RawRdmaStream(SocketChannel channel) throws IOException {
        super(channel);
    }

    static RawRdmaStream connect(AttackTarget target, int turn) throws IOException {
        SocketChannel channel = target.connect(target.rdmaPort(), turn);
        try {
            channel.socket().setSoTimeout(ANSWER_MILLIS);
            byte[] request = request();
            channel.write(ByteBuffer.wrap(request));
            byte[] reply = readFully(channel, SETUP_BYTES);
            readFully(channel, (reply[18] & 0xFF) << 8 | reply[19] & 0xFF);
            if ((reply[16] & 0x20) != 0) {
                throw new IOException("refused by the server");
            }
            return new RawRdmaStream(channel);
        } catch (IOException e) {
            channel.close();
            throw e;
        }
    }

    /** MPA revision 2, 16 RDMA Reads in each direction, and what Linux tells of itself (RFC 8797). */
    static byte[] request() {
        return ByteBuffer.allocate(SETUP_BYTES + 12).put("MPA ID Req Frame".getBytes(StandardCharsets.US_ASCII))
                .put(HexFormat.of().parseHex("1002000c" + "00100010" + "f6ab0e1801010303")).array();
    }

    /** By the socket's own stream, which has a time-out; nothing else is sent before this side sends. */
    private static byte[] readFully(SocketChannel channel, int bytes) throws IOException {
        byte[] read = channel.socket().getInputStream().readNBytes(bytes);
        if (read.length < bytes) {
            throw new EOFException("ended by the server");
        }
        return read;
    }

    /** No bytes are an empty RDMA Write: 20 bytes in all, the smallest FPDU there is, and legal at any time. */
    @Override
    void encode(byte[] message, ByteBuffer to) {
        if (message.length == 0) {
            to.putShort((short) 14).putShort((short) WRITE).putInt(0).putLong(0).putInt(0);
            return;
        }
        to.putShort((short) (18 + message.length)).putShort((short) SEND).putInt(0).putInt(0).putInt(nextSequenceNumber++)
                .putInt(0)
                .put(message);
        pad(to, message.length);
    }

    private static void pad(ByteBuffer to, int payloadBytes) {
        for (int i = payloadBytes; i % Integer.BYTES != 0; i++) {
            to.put((byte) 0);
        }
        to.putInt(0); // no checksum
    }

    /** Reads what has come and keeps the RDMA Read Requests. */
    void receive() throws IOException {
        if (in == null) {
            in = ByteBuffer.allocate(131_072);
        }
        if (channel().read(in) < 0) {
            throw new EOFException("ended by the server");
        }
        in.flip();
        while (in.remaining() >= 2) {
            int length = Short.toUnsignedInt(in.getShort(in.position()));
            int frame = (2 + length + 3) / 4 * 4 + 4;
            if (in.remaining() < frame) {
                break;
            }
            if (in.getShort(in.position() + 2) == READ_REQUEST) {
                readRequests.add(ByteBuffer.allocate(28).put(in.slice(in.position() + 20, 28)).flip());
            }
            in.position(in.position() + frame);
        }
        in.compact();
    }

    /** Answers the oldest RDMA Read Request with zeros, if there is one and the last answer is written. */
    void answerOneRead() throws IOException {
        if (response.hasRemaining()) {
            channel().write(response);
        } else if (isFlushed() && !readRequests.isEmpty()) {
            response = responseTo(readRequests.remove());
            channel().write(response);
        }
    }

    private static ByteBuffer responseTo(ByteBuffer request) {
        int tag = request.getInt();
        long offset = request.getLong();
        int size = request.getInt();
        ByteBuffer all = ByteBuffer.allocate(size + (size / SEGMENT_BYTES + 1) * 24);
        for (int done = 0; done < size || done == 0; done += SEGMENT_BYTES) {
            int bytes = Math.min(SEGMENT_BYTES, size - done);
            int control = done + bytes == size ? READ_RESPONSE : READ_RESPONSE & ~0x4000;
            all.putShort((short) (14 + bytes)).putShort((short) control).putInt(tag).putLong(offset + done).put(new byte[bytes]);
            pad(all, bytes);
        }
        return all.flip();
    }
}
