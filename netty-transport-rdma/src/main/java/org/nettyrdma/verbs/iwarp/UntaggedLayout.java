package org.nettyrdma.verbs.iwarp;

/**
 * A segment that goes to the next buffer of a queue (RFC 5041, section 4.3): Sends to queue 0, RDMA Read Requests to queue 1,
 * Terminate to queue 2. Offsets count from the first byte of the FPDU.
 * <pre>{@code
 * 0        2         4            8              12                        16               20
 * | length | control | invalidate | queue number | message sequence number | message offset | payload ...
 * }</pre>
 */
final class UntaggedLayout {

    /** The steering tag that a Send with Invalidate withdraws; 0 in every other message. */
    static final int INVALIDATE_TAG_OFFSET = 4;
    static final int QUEUE_NUMBER_OFFSET = 8;
    /** Counts the messages of a queue, not the segments, from 1, modulo 2^32. */
    static final int MESSAGE_SEQUENCE_NUMBER_OFFSET = 12;
    /** The bytes of the message that precede this segment. */
    static final int MESSAGE_OFFSET_OFFSET = 16;
    static final int HEADER_LENGTH = 20;

    static final int SEND_QUEUE = 0;
    static final int READ_REQUEST_QUEUE = 1;
    static final int TERMINATE_QUEUE = 2;
    static final int FIRST_MESSAGE_SEQUENCE_NUMBER = 1;

    private UntaggedLayout() {
    }
}
