package org.nettyrdma.verbs.iwarp;

/**
 * The two control bytes with which every DDP segment begins: one of DDP (RFC 5041, section 4.1), one that DDP reserves for
 * RDMAP (RFC 5040, section 4.1). Reserved bits are sent as 0 and ignored when received.
 * <pre>{@code
 *   2                             3
 * | T | L | reserved (4) | DV (2) | RV (2) | reserved (2) | opcode (4) |
 *   T tagged, L last segment of its message, DV = 1 DDP version, RV = 1 RDMAP version
 * }</pre>
 */
final class DdpControl {

    static final int DDP_OFFSET = 2;
    static final int RDMAP_OFFSET = 3;
    /** Bytes from the start of the FPDU to the end of the control bytes. */
    static final int END = 4;

    private static final int TAGGED = 0x80;
    private static final int LAST = 0x40;
    private static final int DDP_VERSION_MASK = 0x03;
    private static final int DDP_VERSION = 1;
    private static final int RDMAP_VERSION_SHIFT = 6;
    private static final int RDMAP_VERSION = 1;
    private static final int OPCODE_MASK = 0x0F;

    private DdpControl() {
    }

    /** Both control bytes of a segment, as one big-endian number. */
    static short encode(RdmapOpcode opcode, boolean last) {
        int ddp = (opcode.isTagged() ? TAGGED : 0) | (last ? LAST : 0) | DDP_VERSION;
        return (short) (ddp << Byte.SIZE | RDMAP_VERSION << RDMAP_VERSION_SHIFT | opcode.code());
    }

    static boolean isTagged(int ddpByte) {
        return (ddpByte & TAGGED) != 0;
    }

    static boolean isLast(int ddpByte) {
        return (ddpByte & LAST) != 0;
    }

    static int ddpVersion(int ddpByte) {
        return ddpByte & DDP_VERSION_MASK;
    }

    static boolean isDdpVersionKnown(int ddpByte) {
        return ddpVersion(ddpByte) == DDP_VERSION;
    }

    static int rdmapVersion(int rdmapByte) {
        return (rdmapByte & 0xFF) >> RDMAP_VERSION_SHIFT;
    }

    static boolean isRdmapVersionKnown(int rdmapByte) {
        return rdmapVersion(rdmapByte) == RDMAP_VERSION;
    }

    static int opcode(int rdmapByte) {
        return rdmapByte & OPCODE_MASK;
    }
}
