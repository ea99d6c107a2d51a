package org.nettyrdma.verbs.shm;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.nettyrdma.peer.PeerLog;

/**
 * What the two sides tell each other over the socket before the connection stands.
 * <pre>{@code
 *  0  length of all that follows (2), kind (2)
 *  4  magic number with the version (8)
 * 12  instance: which process (8), number of the control file (4)
 * 24  inbound and outbound read depth (4, 4)
 * 32  port of the asking side (4), length of its address (1), address
 *     length of the text (1), text
 *     private data, up to the end
 * }</pre>
 *
 * @param kind              what it is
 * @param instance          the process that sends it
 * @param control           the number of its control file, 0 in a rejection
 * @param inboundReadDepth  RDMA Reads that the other side may have outstanding
 * @param outboundReadDepth RDMA Reads that the sender would like to have outstanding
 * @param address           what the asking side calls its IP address; empty if it has none
 * @param port              what it calls its port, -1 if it has none
 * @param text              in a request the IP address that was asked, empty if it was none; in a rejection why, empty if the
 *                          user has rejected
 * @param privateData       of the user
 */
record SetupFrame(Kind kind, long instance, int control, int inboundReadDepth, int outboundReadDepth, byte[] address, int port,
                  String text, byte[] privateData) {

    /** What a frame is. */
    enum Kind { REQUEST, ACCEPT, REJECT }

    /** As over iWARP, so that a program of {@link SameHostProvider} finds one limit. */
    static final int MAX_PRIVATE_DATA_BYTES = 508;
    static final int MAX_READ_DEPTH = 1024;
    /** The kind and the length stand before. */
    static final int PREFIX_BYTES = 4;
    static final int MAX_BYTES = 2048;

    private static final int MAX_FIELD_BYTES = 255;
    private static final int FIXED_BYTES = 38;

    static byte[] checkPrivateData(ByteBuffer data) {
        if (data.remaining() > MAX_PRIVATE_DATA_BYTES) {
            throw new IllegalArgumentException("private data of " + data.remaining() + " bytes, limit " + MAX_PRIVATE_DATA_BYTES);
        }
        byte[] bytes = new byte[data.remaining()];
        data.duplicate().get(bytes);
        return bytes;
    }

    static SetupFrame rejection(String text, byte[] privateData) {
        return new SetupFrame(Kind.REJECT, 0, 0, 0, 0, new byte[0], -1, text, privateData);
    }

    /** A rejection by this provider, with the reason in words. */
    static SetupFrame rejection(IOException cause) {
        return rejection(String.valueOf(cause.getMessage()), new byte[0]);
    }

    ByteBuffer encode() {
        byte[] reason = text.getBytes(StandardCharsets.US_ASCII);
        int reasonLength = Math.min(reason.length, MAX_FIELD_BYTES);
        int addressLength = Math.min(address.length, MAX_FIELD_BYTES);
        int length = FIXED_BYTES - PREFIX_BYTES + addressLength + reasonLength + privateData.length;
        return ByteBuffer.allocate(PREFIX_BYTES + length).putShort((short) length).putShort((short) kind.ordinal())
                .putLong(ControlLayout.MAGIC).putLong(instance).putInt(control).putInt(inboundReadDepth).putInt(outboundReadDepth)
                .putInt(port).put((byte) addressLength).put(address, 0, addressLength)
                .put((byte) reasonLength).put(reason, 0, reasonLength).put(privateData).flip();
    }

    /**
     * How long a frame is, of which the prefix is there.
     *
     * @throws IOException if it is too long
     */
    static int totalBytes(ByteBuffer in) throws IOException {
        int length = Short.toUnsignedInt(in.getShort(0));
        if (length < FIXED_BYTES - PREFIX_BYTES || length > MAX_BYTES - PREFIX_BYTES) {
            throw malformed("length", length);
        }
        return PREFIX_BYTES + length;
    }

    /**
     * Reads a whole frame.
     *
     * @param in holds it from 0 to its limit
     * @throws IOException if it is malformed
     */
    static SetupFrame decode(ByteBuffer in) throws IOException {
        int kind = in.getShort(2);
        in.position(PREFIX_BYTES);
        long magic = in.getLong();
        if (magic != ControlLayout.MAGIC) {
            throw malformed("magic number", magic);
        }
        if (kind < 0 || kind >= Kind.values().length) {
            throw malformed("kind", kind);
        }
        long instance = in.getLong();
        int control = in.getInt();
        if (control < 0 || control == 0 && kind != Kind.REJECT.ordinal()) {
            throw malformed("control file", control);
        }
        int inboundReadDepth = checkReadDepth(in.getInt());
        int outboundReadDepth = checkReadDepth(in.getInt());
        int port = in.getInt();
        if (port < -1 || port > 0xFFFF) {
            throw malformed("port", port);
        }
        byte[] address = readField(in, 1, "address");
        byte[] text = readField(in, 0, "text");
        byte[] privateData = new byte[in.remaining()];
        if (privateData.length > MAX_PRIVATE_DATA_BYTES) {
            throw malformed("length of the private data", privateData.length);
        }
        in.get(privateData);
        return new SetupFrame(Kind.values()[kind], instance, control, inboundReadDepth, outboundReadDepth, address, port,
                PeerLog.printable(new String(text, StandardCharsets.US_ASCII)), privateData);
    }

    private static int checkReadDepth(int depth) throws IOException {
        if (depth < 0 || depth > MAX_READ_DEPTH) {
            throw malformed("read depth", depth);
        }
        return depth;
    }

    private static byte[] readField(ByteBuffer in, int bytesBehind, String name) throws IOException {
        int length = Byte.toUnsignedInt(in.get());
        if (length > in.remaining() - bytesBehind) {
            throw malformed("length of the " + name, length);
        }
        byte[] field = new byte[length];
        in.get(field);
        return field;
    }

    private static IOException malformed(String field, long value) {
        return new ShmProtocolException(EndReason.FAILED, "setup frame: %s %d", field, value);
    }

    ByteBuffer privateDataBuffer() {
        return ByteBuffer.wrap(privateData).asReadOnlyBuffer();
    }
}
