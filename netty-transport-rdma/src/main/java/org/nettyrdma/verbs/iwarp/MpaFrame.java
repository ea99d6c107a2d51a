package org.nettyrdma.verbs.iwarp;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * The one frame that each side sends before the first FPDU (RFC 5044, section 7.1; the enhanced form RFC 6581, sections 6 and 9).
 * Private data here is everything behind the fixed part, so in the enhanced form it begins with the read depths.
 * <pre>{@code
 * 0               16      17         18               20
 * | key (16 bytes) | flags | revision | private length | private data, 0 to 512 bytes |
 *
 * flags   | M | C | R | S | reserved (4) |    M send me markers, C use the CRC, R rejected, S enhanced
 *
 * enhanced private data
 * 0                     2                     4
 * | A | B | IRD (14)    | C | D | ORD (14)    | the user's private data |
 *   A peer-to-peer: the initiator announces itself with an empty message: B Send, C RDMA Write, D RDMA Read
 * }</pre>
 *
 * @param reply       whether this is the responder's answer; else it is the initiator's request
 * @param flags       the flags byte
 * @param revision    the revision of MPA
 * @param privateData the bytes behind the fixed part
 */
record MpaFrame(boolean reply, int flags, int revision, byte[] privateData) {

    static final int FLAG_MARKERS = 0x80;
    static final int FLAG_CRC = 0x40;
    static final int FLAG_REJECT = 0x20;
    static final int FLAG_ENHANCED = 0x10;

    static final int KEY_LENGTH = 16;
    static final int FLAGS_OFFSET = 16;
    static final int REVISION_OFFSET = 17;
    static final int PRIVATE_LENGTH_OFFSET = 18;
    static final int FIXED_LENGTH = 20;
    static final int MAX_PRIVATE_LENGTH = 512;

    /** First and, for now, last revision that has the enhanced form. */
    static final int ENHANCED_REVISION = 2;
    static final int READ_DEPTHS_LENGTH = 4;
    static final int READ_DEPTH_MASK = 0x3FFF;
    /** In place of a read depth: the two sides agree on it by other means, or not at all (RFC 6581, section 9.1). */
    static final int READ_DEPTH_LEFT_TO_USERS = 0x3FFF;
    /** A in the first word, on top of the IRD. */
    static final int PEER_TO_PEER = 0x8000;
    /** B in the first word. */
    static final int READY_BY_SEND = 0x4000;
    /** C in the second word, on top of the ORD. */
    static final int READY_BY_WRITE = 0x8000;
    /** D in the second word. */
    static final int READY_BY_READ = 0x4000;

    private static final byte[] REQUEST_KEY = "MPA ID Req Frame".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] REPLY_KEY = "MPA ID Rep Frame".getBytes(StandardCharsets.US_ASCII);

    /**
     * Makes an enhanced frame.
     *
     * @param inboundWord  the IRD with its flags
     * @param outboundWord the ORD with its flags
     * @param userData     the user's private data
     */
    static MpaFrame enhanced(boolean reply, int flags, int inboundWord, int outboundWord, byte[] userData) {
        byte[] privateData = ByteBuffer.allocate(READ_DEPTHS_LENGTH + userData.length)
                .putShort((short) inboundWord).putShort((short) outboundWord).put(userData).array();
        return new MpaFrame(reply, flags | FLAG_ENHANCED, ENHANCED_REVISION, privateData);
    }

    boolean wantsMarkers() {
        return (flags & FLAG_MARKERS) != 0;
    }

    boolean wantsCrc() {
        return (flags & FLAG_CRC) != 0;
    }

    boolean isRejection() {
        return (flags & FLAG_REJECT) != 0;
    }

    /** Whether the private data begins with read depths. In revision 1 the bit is reserved and means nothing. */
    boolean isEnhanced() {
        return revision >= ENHANCED_REVISION && (flags & FLAG_ENHANCED) != 0;
    }

    /** The first word of the enhanced form; the frame must be enhanced. */
    int inboundWord() {
        return ByteBuffer.wrap(privateData).getShort(0) & 0xFFFF;
    }

    /** The second word of the enhanced form; the frame must be enhanced. */
    int outboundWord() {
        return ByteBuffer.wrap(privateData).getShort(Short.BYTES) & 0xFFFF;
    }

    /** Reads that the sender of this frame can hold; the frame must be enhanced. */
    int inboundReadDepth() {
        return inboundWord() & READ_DEPTH_MASK;
    }

    /** Reads that the sender of this frame wants to have outstanding; the frame must be enhanced. */
    int outboundReadDepth() {
        return outboundWord() & READ_DEPTH_MASK;
    }

    /** What the user of the other side sent along, without the read depths. */
    ByteBuffer userData() {
        int offset = isEnhanced() ? READ_DEPTHS_LENGTH : 0;
        return ByteBuffer.wrap(privateData, offset, privateData.length - offset).slice().asReadOnlyBuffer();
    }

    ByteBuffer encode() {
        return ByteBuffer.allocate(FIXED_LENGTH + privateData.length)
                .put(reply ? REPLY_KEY : REQUEST_KEY)
                .put((byte) flags)
                .put((byte) revision)
                .putShort((short) privateData.length)
                .put(privateData)
                .flip();
    }

    /**
     * Checks as much of the key as is present. Who does not speak MPA may send less than a frame, and wait.
     *
     * @param begin the frame from index 0 to its position
     * @param reply what is expected
     * @throws ProtocolViolationException if this does not begin the expected frame
     */
    static void checkKey(ByteBuffer begin, boolean reply) throws ProtocolViolationException {
        byte[] key = reply ? REPLY_KEY : REQUEST_KEY;
        int present = Math.min(begin.position(), KEY_LENGTH);
        if (!begin.slice(0, present).equals(ByteBuffer.wrap(key, 0, present))) {
            throw new ProtocolViolationException(TerminateReason.INVALID_SETUP_FRAME,
                    "the key is not \"%s\", perhaps the peer is on plain TCP", new String(key, StandardCharsets.US_ASCII));
        }
    }

    /**
     * The length of the private data of a frame of which the fixed part is present.
     *
     * @param fixed the fixed part from index 0, whose key is that of the expected frame
     * @throws ProtocolViolationException if it is too long, or too short for what it announces
     */
    static int privateLength(ByteBuffer fixed) throws ProtocolViolationException {
        int revision = fixed.get(REVISION_OFFSET) & 0xFF;
        if (revision < 1 || revision > ENHANCED_REVISION) {
            throw new ProtocolViolationException(TerminateReason.INVALID_SETUP_FRAME,
                    "MPA revision %d, understood are 1 and 2", revision);
        }
        int length = fixed.getShort(PRIVATE_LENGTH_OFFSET) & 0xFFFF;
        if (length > MAX_PRIVATE_LENGTH) {
            throw new ProtocolViolationException(TerminateReason.INVALID_SETUP_FRAME,
                    "%d bytes of private data, limit %d", length, MAX_PRIVATE_LENGTH);
        }
        boolean enhanced = revision == ENHANCED_REVISION && (fixed.get(FLAGS_OFFSET) & FLAG_ENHANCED) != 0;
        if (enhanced && length < READ_DEPTHS_LENGTH) {
            throw new ProtocolViolationException(TerminateReason.INVALID_SETUP_FRAME,
                    "%d bytes of private data in an enhanced frame, at least %d are the read depths", length,
                    READ_DEPTHS_LENGTH);
        }
        return length;
    }
}
