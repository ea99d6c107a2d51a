package org.nettyrdma.verbs.iwarp;

/**
 * The frame of MPA without markers (RFC 5044, section 4), called FPDU. The CRC is the one little-endian field; it covers
 * everything before it and is present, as zero, when no CRC was agreed on.
 * <pre>{@code
 * 0               2                  2+N       2+N+P       2+N+P+4
 * | ULPDU length N | ULPDU (N bytes) | P zeros | CRC32C    |          P = 0..3, the whole a multiple of 4
 * }</pre>
 *
 * <p>The ULPDU is a DDP segment. The offsets of {@link TaggedLayout}, {@link UntaggedLayout}, {@link ReadRequestLayout} and
 * {@link TerminateLayout} count from the first byte of the FPDU too.
 */
final class FpduLayout {

    static final int ULPDU_LENGTH_OFFSET = 0;
    static final int ULPDU_OFFSET = 2;
    static final int CRC_LENGTH = Integer.BYTES;
    static final int MAX_PAD_LENGTH = 3;
    static final int MAX_TRAILER_LENGTH = MAX_PAD_LENGTH + CRC_LENGTH;
    static final int MAX_ULPDU_LENGTH = 0xFFFF;

    private FpduLayout() {
    }

    /** The number of pad bytes that follow a ULPDU. */
    static int padLength(int ulpduLength) {
        return -(ULPDU_OFFSET + ulpduLength) & MAX_PAD_LENGTH;
    }

    /**
     * The number of bytes of a whole FPDU.
     *
     * @param segmentLength the FPDU without pad and CRC
     */
    static int fpduLength(int segmentLength) {
        return segmentLength + padLength(segmentLength - ULPDU_OFFSET) + CRC_LENGTH;
    }
}
