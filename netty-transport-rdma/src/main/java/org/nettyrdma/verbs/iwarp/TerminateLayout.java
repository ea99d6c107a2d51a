package org.nettyrdma.verbs.iwarp;

/**
 * The Terminate message (RFC 5040, section 4.8): an untagged segment that says why its sender ends the connection. What
 * follows the flags depends on them: M the length of the offending DDP segment, D its DDP header of 14 or 18 bytes, R the 28
 * bytes of an offending RDMA Read Request. Offsets count from the first byte of the FPDU.
 * <pre>{@code
 * 0                20                      21          22                     23         24            26
 * | UntaggedLayout | layer (4) | etype (4) | error code | M | D | R | 0 (5)    | 0 (8)    | DDP length | DDP header | RDMAP |
 * }</pre>
 *
 * <p>Linux {@code siw} on little-endian machines swaps the two halves of byte 20 and reverses the bits of byte 22. The two
 * readings overlap, so what is attached is told by the length of the message, never by the flags.
 */
final class TerminateLayout {

    static final int LAYER_AND_TYPE_OFFSET = 20;
    static final int ERROR_CODE_OFFSET = 21;
    static final int FLAGS_OFFSET = 22;
    static final int DDP_HEADER_OFFSET = 26;
    /** The shortest Terminate, with nothing attached. */
    static final int MIN_LENGTH = 24;

    static final int SEGMENT_LENGTH_VALID = 0x80;
    static final int DDP_HEADER_INCLUDED = 0x40;
    static final int RDMAP_HEADER_INCLUDED = 0x20;

    /** A DDP header as it is attached: without the ULPDU length that precedes it in its own FPDU. */
    static final int TAGGED_HEADER_LENGTH = TaggedLayout.HEADER_LENGTH - FpduLayout.ULPDU_OFFSET;
    static final int UNTAGGED_HEADER_LENGTH = UntaggedLayout.HEADER_LENGTH - FpduLayout.ULPDU_OFFSET;
    static final int MAX_LENGTH = DDP_HEADER_OFFSET + UNTAGGED_HEADER_LENGTH + ReadRequestLayout.BODY_LENGTH;

    private TerminateLayout() {
    }
}
