package org.nettyrdma.example.nfs.dump;

import io.netty.buffer.ByteBuf;

/**
 * The headers of one FPDU (RFC 5044, section 4) with a DDP segment (RFC 5041, section 4) of an RDMAP message (RFC 5040,
 * section 4). Only what {@link #check} has found sound may be asked for.
 * <pre>{@code
 * 0        2     3       4             8              12      16       20
 * | length | DDP | RDMAP | STag        | offset (64 bits)     | payload ...             tagged
 * | length | DDP | RDMAP | invalidate  | queue        | MSN   | offset | payload ...    untagged
 *
 * DDP      | tagged | last | 4 reserved | version (2) |        RDMAP   | version (2) | 2 reserved | opcode (4) |
 * }</pre>
 *
 * @param bytes the FPDU from its first byte, with padding and CRC
 */
record Fpdu(ByteBuf bytes) {

    static final int LENGTH_FIELD = 2;
    static final int CRC_LENGTH = 4;

    static final int WRITE = 0;
    static final int READ_REQUEST = 1;
    static final int READ_RESPONSE = 2;
    static final int TERMINATE = 7;

    /** Bytes that are enough for {@link #check}. */
    static final int CONTROL_END = 4;

    private static final int TAGGED_HEADER_LENGTH = 16;
    private static final int UNTAGGED_HEADER_LENGTH = 20;
    private static final int TAGGED = 0x80;
    private static final int LAST = 0x40;
    private static final int DDP_VERSION_MASK = 0x03;
    private static final int RDMAP_VERSION_SHIFT = 6;
    private static final int VERSION = 1;
    private static final int OPCODE_MASK = 0x0F;
    private static final int SEND_WITH_INVALIDATE = 4;
    private static final int SEND_WITH_SOLICITED_EVENT_AND_INVALIDATE = 6;

    /**
     * Says what is wrong with the length and the control bytes, which must be there; {@code null} if nothing is.
     *
     * @param in stands at the first byte of an FPDU
     */
    static String check(ByteBuf in) {
        int start = in.readerIndex();
        int length = in.getUnsignedShort(start);
        int ddp = in.getUnsignedByte(start + 2);
        int rdmap = in.getUnsignedByte(start + 3);
        int opcode = rdmap & OPCODE_MASK;
        boolean tagged = (ddp & TAGGED) != 0;
        if ((ddp & DDP_VERSION_MASK) != VERSION) {
            return "DDP version " + (ddp & DDP_VERSION_MASK) + " (known: 1)";
        }
        if (rdmap >> RDMAP_VERSION_SHIFT != VERSION) {
            return "RDMAP version " + (rdmap >> RDMAP_VERSION_SHIFT) + " (known: 1)";
        }
        if (opcode > TERMINATE) {
            return "RDMAP opcode " + opcode + " (known: 0..7)";
        }
        if (tagged != (opcode == WRITE || opcode == READ_RESPONSE)) {
            return "RDMAP opcode " + opcode + " in " + (tagged ? "a tagged" : "an untagged") + " segment";
        }
        int least = (tagged ? TAGGED_HEADER_LENGTH : UNTAGGED_HEADER_LENGTH) - LENGTH_FIELD;
        return length < least ? "ULPDU length " + length + " (at least " + least + ')' : null;
    }

    /** The bytes that an FPDU with this length field takes. */
    static int totalLength(int ulpduLength) {
        return (LENGTH_FIELD + ulpduLength + 3 & ~3) + CRC_LENGTH;
    }

    boolean isTagged() {
        return (bytes.getByte(start() + 2) & TAGGED) != 0;
    }

    boolean isLast() {
        return (bytes.getByte(start() + 2) & LAST) != 0;
    }

    int opcode() {
        return bytes.getByte(start() + 3) & OPCODE_MASK;
    }

    boolean invalidates() {
        return opcode() == SEND_WITH_INVALIDATE || opcode() == SEND_WITH_SOLICITED_EVENT_AND_INVALIDATE;
    }

    /** The steering tag of a tagged segment, or the one that a Send with Invalidate names. */
    int steeringTag() {
        return bytes.getInt(start() + 4);
    }

    long taggedOffset() {
        return bytes.getLong(start() + 8);
    }

    long queueNumber() {
        return bytes.getUnsignedInt(start() + 8);
    }

    long messageSequenceNumber() {
        return bytes.getUnsignedInt(start() + 12);
    }

    long messageOffset() {
        return bytes.getUnsignedInt(start() + 16);
    }

    ByteBuf payload() {
        int headerLength = isTagged() ? TAGGED_HEADER_LENGTH : UNTAGGED_HEADER_LENGTH;
        return bytes.slice(start() + headerLength, LENGTH_FIELD + bytes.getUnsignedShort(start()) - headerLength);
    }

    private int start() {
        return bytes.readerIndex();
    }
}
