package org.nettyrdma.stream;

/** What one side tells the other, 32 bits: the type in bits 31 to 29, the value in bits 28 to 0. */
public sealed interface StreamMessage {

    /** Size on the wire. */
    int BYTES = 4;

    /** The largest value, so the most data that one message can tell of. */
    int MAX_VALUE = (1 << 29) - 1;

    /**
     * Data was written to the current target entry, or follows in the same Send.
     *
     * @param bytes how much, 1 to {@link #MAX_VALUE}
     */
    record Data(int bytes) implements StreamMessage {
        @Override
        public int encode() {
            return bytes;
        }
    }

    /**
     * More data messages may be sent. A target entry may have been written before.
     *
     * @param limit how many in all since the start, of which the low 16 bits count
     */
    record Credits(int limit) implements StreamMessage {
        @Override
        public int encode() {
            return CREDITS << TYPE_SHIFT | limit & LIMIT_MASK;
        }
    }

    /** What has no number. */
    enum Control implements StreamMessage {
        /** The sender sends nothing more and reads nothing more. */
        DISCONNECT,
        /** Nothing. */
        KEEPALIVE,
        /** The sender sends no more data. */
        SHUTDOWN,
        /** The sender wants the rest of its ring back. This and the next only between two sides of this kind. */
        RECALL,
        /** The sender writes no more to the entries that it was told of before the recall. */
        RETURN;

        private static final Control[] BY_VALUE = values();

        @Override
        public int encode() {
            return CONTROL << TYPE_SHIFT | ordinal();
        }
    }

    /** Bits of a limit. */
    int LIMIT_MASK = 0xFFFF;

    /** Type of {@link Data}. */
    int DATA = 0;

    /** Type of {@link Credits}. */
    int CREDITS = 4;

    /** Type of {@link Control}. */
    int CONTROL = 7;

    /** Where the type begins. */
    int TYPE_SHIFT = 29;

    /**
     * The message as a number.
     *
     * @return its 32 bits
     */
    int encode();

    /**
     * Reads a message.
     *
     * @param word its 32 bits
     * @return the message
     * @throws StreamProtocolException if the type is not known, or has no use on this connection: this side offers no iomap (type
     *                                 6), and a direct write (type 2) has no message
     */
    static StreamMessage decode(int word) throws StreamProtocolException {
        int type = word >>> TYPE_SHIFT;
        int value = word & MAX_VALUE;
        switch (type) {
            case DATA -> {
                if (value == 0) {
                    throw new StreamProtocolException("a data message of 0 bytes (limit: at least 1)");
                }
                return new Data(value);
            }
            case CREDITS -> {
                return new Credits(value & LIMIT_MASK);
            }
            case CONTROL -> {
                if (value < Control.BY_VALUE.length) {
                    return Control.BY_VALUE[value];
                }
                throw new StreamProtocolException("a control message of value " + value + " (limit: "
                        + (Control.BY_VALUE.length - 1) + ')');
            }
            default -> throw new StreamProtocolException("a message of type " + type + " and value " + value
                    + " (limit: types 0, 4 and 7)");
        }
    }
}
