package org.nettyrdma.verbs.iwarp;

import java.nio.ByteBuffer;

/**
 * A Terminate as it arrived. How byte 20 is to be read is open, see {@link TerminateLayout}: nothing may depend on it but
 * texts and the kind of an error that is fatal anyway.
 *
 * @param layerAndType     byte 20
 * @param code             byte 21
 * @param terminatedOpcode the message that offended the peer, or {@code null} if it did not say
 * @param terminatedTag    the steering tag in the header of that message: of an RDMA Write the target, of a Read Request the
 *                         sink; 0 if there is none
 */
record TerminateMessage(int layerAndType, int code, RdmapOpcode terminatedOpcode, int terminatedTag) {

    /** Layer 0 (RDMAP), error type 1 (remote protection), in either reading. */
    private static final int REMOTE_PROTECTION = 0x01;

    /**
     * Reads a Terminate.
     *
     * @param in     holds the whole FPDU
     * @param at     its first byte
     * @param length its length without pad and CRC, at least {@link TerminateLayout#MIN_LENGTH}
     */
    static TerminateMessage decode(ByteBuffer in, int at, int length) {
        int layerAndType = in.get(at + TerminateLayout.LAYER_AND_TYPE_OFFSET) & 0xFF;
        int code = in.get(at + TerminateLayout.ERROR_CODE_OFFSET) & 0xFF;
        RdmapOpcode opcode = null;
        int tag = 0;
        // An attached DDP header lacks the ULPDU length, so its offsets are those of the layouts, counted from here.
        int header = at + TerminateLayout.DDP_HEADER_OFFSET - FpduLayout.ULPDU_OFFSET;
        int attached = length - TerminateLayout.DDP_HEADER_OFFSET;
        if (attached >= TerminateLayout.TAGGED_HEADER_LENGTH) {
            opcode = RdmapOpcode.of(DdpControl.opcode(in.get(header + DdpControl.RDMAP_OFFSET)));
            if (opcode == RdmapOpcode.WRITE) {
                tag = in.getInt(header + TaggedLayout.STEERING_TAG_OFFSET);
            } else if (opcode == RdmapOpcode.READ_REQUEST
                    && attached >= TerminateLayout.UNTAGGED_HEADER_LENGTH + ReadRequestLayout.BODY_LENGTH) {
                tag = in.getInt(header + ReadRequestLayout.SINK_TAG_OFFSET);
            }
        }
        return new TerminateMessage(layerAndType, code, opcode, tag);
    }

    /** Whether the peer refused access to its memory, as far as that can be told. */
    boolean isAccessError() {
        return terminatedOpcode == RdmapOpcode.WRITE
                || layerAndType == REMOTE_PROTECTION || layerAndType == swapped(REMOTE_PROTECTION);
    }

    /** Whether a message was longer than the peer's receive buffer for it, as far as that can be told. */
    boolean isMessageTooLong() {
        return TerminateReason.of(layerAndType, code) == TerminateReason.MESSAGE_TOO_LONG
                || TerminateReason.of(swapped(layerAndType), code) == TerminateReason.MESSAGE_TOO_LONG;
    }

    /** Both bytes as one number, for logs. */
    int vendorError() {
        return layerAndType << Byte.SIZE | code;
    }

    /** The message in words, in both readings. */
    String describe() {
        String about = terminatedOpcode == null ? "" : String.format(", about %s with steering tag 0x%08x",
                terminatedOpcode, terminatedTag);
        return String.format("%s; or, from a peer that swaps the halves of the byte: %s%s", reading(layerAndType),
                reading(swapped(layerAndType)), about);
    }

    private String reading(int value) {
        TerminateReason reason = TerminateReason.of(value, code);
        return reason != null ? reason.toString()
                : String.format("unknown layer %d error type %d code %d", value >> 4, value & 0xF, code);
    }

    private static int swapped(int value) {
        return (value & 0xF) << 4 | value >> 4;
    }
}
