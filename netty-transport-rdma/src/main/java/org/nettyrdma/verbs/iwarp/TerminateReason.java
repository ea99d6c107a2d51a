package org.nettyrdma.verbs.iwarp;

/**
 * Why a connection is terminated: the layer that noticed, the type of error and the code (RFC 5040, section 4.8; for the last
 * three of MPA RFC 6581, section 8).
 */
enum TerminateReason {
    RDMAP_LOCAL_CATASTROPHIC(Layer.RDMAP, 0, 0x00, "local catastrophic error"),
    READ_INVALID_STEERING_TAG(Layer.RDMAP, 1, 0x00, "invalid steering tag"),
    READ_OUT_OF_BOUNDS(Layer.RDMAP, 1, 0x01, "base or bounds violation"),
    ACCESS_RIGHTS_VIOLATION(Layer.RDMAP, 1, 0x02, "access rights violation"),
    READ_STEERING_TAG_OF_OTHER_STREAM(Layer.RDMAP, 1, 0x03, "steering tag not associated with the stream"),
    READ_OFFSET_WRAP(Layer.RDMAP, 1, 0x04, "tagged offset wrap"),
    PROTECTED_STEERING_TAG_NOT_INVALIDATED(Layer.RDMAP, 1, 0x09, "steering tag cannot be invalidated"),
    RDMAP_VERSION(Layer.RDMAP, 2, 0x05, "invalid RDMAP version"),
    UNEXPECTED_OPCODE(Layer.RDMAP, 2, 0x06, "unexpected opcode"),
    CATASTROPHIC_FOR_STREAM(Layer.RDMAP, 2, 0x07, "catastrophic error of the stream"),
    CATASTROPHIC(Layer.RDMAP, 2, 0x08, "catastrophic error of everything"),
    STEERING_TAG_NOT_INVALIDATED(Layer.RDMAP, 2, 0x09, "steering tag cannot be invalidated"),
    RDMAP_UNSPECIFIED(Layer.RDMAP, 2, 0xFF, "unspecified error"),
    DDP_LOCAL_CATASTROPHIC(Layer.DDP, 0, 0x00, "local catastrophic error"),
    TAGGED_INVALID_STEERING_TAG(Layer.DDP, 1, 0x00, "invalid steering tag"),
    TAGGED_OUT_OF_BOUNDS(Layer.DDP, 1, 0x01, "base or bounds violation"),
    TAGGED_STEERING_TAG_OF_OTHER_STREAM(Layer.DDP, 1, 0x02, "steering tag not associated with the stream"),
    TAGGED_OFFSET_WRAP(Layer.DDP, 1, 0x03, "tagged offset wrap"),
    TAGGED_DDP_VERSION(Layer.DDP, 1, 0x04, "invalid DDP version"),
    INVALID_QUEUE_NUMBER(Layer.DDP, 2, 0x01, "invalid queue number"),
    NO_BUFFER(Layer.DDP, 2, 0x02, "no buffer available"),
    INVALID_MESSAGE_SEQUENCE_NUMBER(Layer.DDP, 2, 0x03, "message sequence number out of range"),
    INVALID_MESSAGE_OFFSET(Layer.DDP, 2, 0x04, "invalid message offset"),
    MESSAGE_TOO_LONG(Layer.DDP, 2, 0x05, "message too long for its buffer"),
    UNTAGGED_DDP_VERSION(Layer.DDP, 2, 0x06, "invalid DDP version"),
    TCP_STREAM_LOST(Layer.MPA, 0, 0x01, "TCP stream closed, terminated or lost"),
    CRC_ERROR(Layer.MPA, 0, 0x02, "CRC error"),
    INVALID_FPDU_LENGTH(Layer.MPA, 0, 0x03, "start or length of an FPDU wrong"),
    INVALID_SETUP_FRAME(Layer.MPA, 0, 0x04, "invalid request or reply frame"),
    MPA_LOCAL_CATASTROPHIC(Layer.MPA, 0, 0x05, "local catastrophic error"),
    INSUFFICIENT_INBOUND_READ_DEPTH(Layer.MPA, 0, 0x06, "insufficient inbound read depth"),
    NO_MATCHING_READY_TO_RECEIVE(Layer.MPA, 0, 0x07, "no matching ready-to-receive option");

    /** Who noticed; the ordinals are not used, {@link #number} is what the wire has. */
    enum Layer {
        RDMAP(0), DDP(1), MPA(2);

        private final int number;

        Layer(int number) {
            this.number = number;
        }
    }

    private final Layer layer;
    private final int type;
    private final int code;
    private final String text;

    TerminateReason(Layer layer, int type, int code, String text) {
        this.layer = layer;
        this.type = type;
        this.code = code;
        this.text = text;
    }

    Layer layer() {
        return layer;
    }

    /** Layer and type as the RFC packs them into one byte. */
    int layerAndType() {
        return layer.number << 4 | type;
    }

    int code() {
        return code;
    }

    /**
     * The reason for two bytes from the wire, or {@code null} if the RFCs give none.
     */
    static TerminateReason of(int layerAndType, int code) {
        for (TerminateReason reason : values()) {
            if (reason.layerAndType() == layerAndType && reason.code == code) {
                return reason;
            }
        }
        return null;
    }

    @Override
    public String toString() {
        return layer + " error type " + type + " code " + code + " (" + text + ')';
    }
}
