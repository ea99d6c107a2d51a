package org.nettyrdma.verbs.iwarp;

/**
 * The RDMA Read Request (RFC 5040, section 4.4): an untagged segment whose payload is a header, and nothing else. The sink is
 * the requester's memory, the source the responder's. Offsets count from the first byte of the FPDU.
 * <pre>{@code
 * 0                 20         24            32          36           40              48
 * | UntaggedLayout  | sink tag | sink offset | size      | source tag | source offset |
 * }</pre>
 */
final class ReadRequestLayout {

    static final int SINK_TAG_OFFSET = 20;
    static final int SINK_OFFSET_OFFSET = 24;
    static final int SIZE_OFFSET = 32;
    static final int SOURCE_TAG_OFFSET = 36;
    static final int SOURCE_OFFSET_OFFSET = 40;
    static final int HEADER_LENGTH = 48;
    /** The part behind the untagged header, as a Terminate repeats it. */
    static final int BODY_LENGTH = HEADER_LENGTH - UntaggedLayout.HEADER_LENGTH;

    private ReadRequestLayout() {
    }
}
