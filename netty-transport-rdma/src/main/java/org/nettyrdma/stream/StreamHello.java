package org.nettyrdma.stream;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The private data of a connection request and of its answer, 40 bytes:
 * <pre>{@code
 *  0      1       2         4              6   7           8                  24                     40
 *  | ver. | flags | credits | receive size | 0 | iomap     | target list      | first receive buffer |
 * }</pre>
 * Numbers are big-endian. Flag bit 0 says that the host is big-endian, bit 1 that the size of the iomap is valid. A host in C
 * sets and looks at no other bits, and at none of the bytes 4 to 6. Here bit 6 says that the sender knows of messages with
 * data behind them ({@link StreamReceiver}) and gives the other side's ring back when it is asked to, and bytes 4 and 5 how long
 * these messages may be.
 *
 * @param bigEndian    whether entries and messages of this host are big-endian
 * @param credits      how many data messages may be sent before the first update
 * @param receiveBytes how long a message may be together with data behind it; {@link StreamMessage#BYTES} where none may follow
 * @param listAddress  where the target list begins
 * @param listKey      its steering tag
 * @param listEntries  its entries
 * @param first        the first receive buffer
 */
public record StreamHello(boolean bigEndian, int credits, int receiveBytes, long listAddress, int listKey, int listEntries,
                          TargetEntry first) {

    /** Size on the wire. */
    public static final int BYTES = 40;

    private static final int VERSION = 1;
    private static final int FLAG_BIG_ENDIAN = 1;
    private static final int FLAG_IOMAP_SIZE_VALID = 1 << 1;
    private static final int FLAG_DATA_IN_MESSAGES = 1 << 6;

    private static final int FLAGS_OFFSET = 1;
    private static final int CREDITS_OFFSET = 2;
    private static final int RECEIVE_BYTES_OFFSET = 4;
    private static final int LIST_ADDRESS_OFFSET = 8;
    private static final int LIST_KEY_OFFSET = 16;
    private static final int LIST_ENTRIES_OFFSET = 20;
    private static final int FIRST_OFFSET = 24;

    private static final int UNSIGNED_BYTE = 0xFF;
    private static final int UNSIGNED_SHORT = 0xFFFF;

    /** Where this side writes its second entry, so that there must be as many. */
    private static final int LEAST_LIST_ENTRIES = 2;
    private static final int MOST_LIST_ENTRIES = 1 << 16;

    /**
     * Reads what a peer has sent. InfiniBand and RoCE fill private data with zeros, so that more may follow.
     *
     * @param privateData from position to limit; not changed
     * @return its content
     * @throws StreamProtocolException if it is not the private data of a stream, or a field is out of range
     */
    public static StreamHello read(ByteBuffer privateData) throws StreamProtocolException {
        ByteBuffer data = privateData.slice(); // big-endian
        if (data.remaining() < BYTES) {
            throw new StreamProtocolException("private data has " + data.remaining() + " bytes (limit: at least " + BYTES
                    + "), perhaps that of a channel for messages");
        }
        int version = data.get(0) & UNSIGNED_BYTE;
        if (version != VERSION) {
            throw new StreamProtocolException("private data has version " + version + " (limit: " + VERSION + ')');
        }
        int flags = data.get(FLAGS_OFFSET);
        int credits = data.getShort(CREDITS_OFFSET) & UNSIGNED_SHORT;
        if (credits == 0) {
            throw new StreamProtocolException("private data has 0 credits (limit: at least 1)");
        }
        int receiveBytes = StreamMessage.BYTES;
        if ((flags & FLAG_DATA_IN_MESSAGES) != 0) {
            receiveBytes = data.getShort(RECEIVE_BYTES_OFFSET) & UNSIGNED_SHORT;
            if (receiveBytes < StreamMessage.BYTES) {
                throw new StreamProtocolException("private data has receives of " + receiveBytes + " bytes (limit: at least "
                        + StreamMessage.BYTES + ')');
            }
        }
        int listEntries = data.getInt(LIST_ENTRIES_OFFSET);
        if (listEntries < LEAST_LIST_ENTRIES || listEntries > MOST_LIST_ENTRIES) {
            throw new StreamProtocolException("private data has a target list of " + Integer.toUnsignedString(listEntries)
                    + " entries (limit: " + LEAST_LIST_ENTRIES + " to " + MOST_LIST_ENTRIES + ')');
        }
        TargetEntry first = TargetEntry.read(data, FIRST_OFFSET, ByteOrder.BIG_ENDIAN, "the first receive buffer");
        return new StreamHello((flags & FLAG_BIG_ENDIAN) != 0, credits, receiveBytes, data.getLong(LIST_ADDRESS_OFFSET),
                data.getInt(LIST_KEY_OFFSET), listEntries, first);
    }

    /**
     * Writes private data.
     *
     * @return its {@value #BYTES} bytes
     */
    public byte[] toBytes() {
        ByteBuffer data = ByteBuffer.allocate(BYTES);
        boolean dataInMessages = takesDataInMessages();
        data.put(0, (byte) VERSION);
        data.put(FLAGS_OFFSET, (byte) (FLAG_IOMAP_SIZE_VALID | (bigEndian ? FLAG_BIG_ENDIAN : 0)
                | (dataInMessages ? FLAG_DATA_IN_MESSAGES : 0)));
        data.putShort(CREDITS_OFFSET, (short) credits);
        data.putShort(RECEIVE_BYTES_OFFSET, (short) (dataInMessages ? receiveBytes : 0));
        data.putLong(LIST_ADDRESS_OFFSET, listAddress);
        data.putInt(LIST_KEY_OFFSET, listKey);
        data.putInt(LIST_ENTRIES_OFFSET, listEntries);
        first.write(data, FIRST_OFFSET, ByteOrder.BIG_ENDIAN);
        return data.array();
    }

    /**
     * The byte order of this host's entries and messages.
     *
     * @return the order
     */
    public ByteOrder order() {
        return bigEndian ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
    }

    /**
     * Whether the host knows of data behind messages, and takes some. It can be asked for the ring, too.
     *
     * @return {@code true} if so
     */
    public boolean takesDataInMessages() {
        return receiveBytes > StreamMessage.BYTES;
    }
}
