package org.nettyrdma.verbs.iwarp;

/**
 * A segment that names the memory it goes to (RFC 5041, section 4.2): RDMA Write and RDMA Read Response. Offsets count from
 * the first byte of the FPDU.
 * <pre>{@code
 * 0          2         4              8                16
 * | length   | control | steering tag | tagged offset  | payload ...
 * }</pre>
 */
final class TaggedLayout {

    static final int STEERING_TAG_OFFSET = 4;
    /** Where the first payload byte of this segment goes, not of the message. */
    static final int TAGGED_OFFSET_OFFSET = 8;
    static final int HEADER_LENGTH = 16;

    private TaggedLayout() {
    }
}
