package org.nettyrdma.stream;

import java.util.ArrayDeque;

/**
 * The way in: what the peer may do, what has arrived, and what of it was taken. Data arrives in the receive ring, whose entries
 * are filled one after the other, each to its last byte; or, between two sides that have agreed on it, behind the message in the
 * same Send. Then it stays in the receive until it is taken. Everything that a peer says is checked here, against what is there.
 */
public final class StreamReceiver {

    /** In place of the number of a receive: the data is in the ring. */
    public static final int RING = -1;

    private final int granted;
    private final boolean dataInMessages;
    private final ArrayDeque<Integer> entries = new ArrayDeque<>(TargetList.ENTRIES); // sizes; the first holds the oldest data
    private int arrivedInRing;   // bytes in all entries that are there
    private int takenOfFirst;    // bytes of the first entry
    private int ringBytes;       // the size of all entries that are there

    // The data messages that arrived and were not taken, a ring of as many as there are credits:
    private final int[] bytes;
    private final int[] receives;
    private int head;
    private int count;
    private int takenOfHead;
    private long readableBytes;

    // Counters of data messages, which wrap:
    private int taken;
    private int limitTaken; // when the peer was told its limit, which is so many and the credits

    private boolean recalled;
    private int publishedSinceRecall;
    private boolean finished;
    private boolean disconnected;

    /**
     * Nothing has arrived.
     *
     * @param granted        credits that the peer got at the start, at least 1
     * @param dataInMessages whether data may follow a message in its Send, and the ring may be recalled
     */
    public StreamReceiver(int granted, boolean dataInMessages) {
        this.granted = granted;
        this.dataInMessages = dataInMessages;
        bytes = new int[granted];
        receives = new int[granted];
    }

    /**
     * The peer was told of another entry of the ring, or will be.
     *
     * @param size its size in bytes
     */
    public void published(int size) {
        if (entries.size() == TargetList.ENTRIES) {
            throw new IllegalStateException("a third entry of the ring");
        }
        entries.add(size);
        ringBytes += size;
        publishedSinceRecall++;
    }

    /**
     * The peer is asked for the rest of the entries. All that are there were told before, and it is told of others only when it
     * has answered.
     */
    public void recall() {
        recalled = true;
        publishedSinceRecall = 0;
    }

    /**
     * Whether the peer has still to answer.
     *
     * @return {@code true} from {@link #recall()} until then
     */
    public boolean isRecalled() {
        return recalled;
    }

    /**
     * A message has arrived.
     *
     * @param word         its 32 bits
     * @param messageBytes the length of the Send, {@link StreamMessage#BYTES} where the message came otherwise
     * @param receive      the number of the receive that it used
     * @return the message; of data the sizes are checked, of credits nothing
     * @throws StreamProtocolException if the peer must not send it
     */
    public StreamMessage arrived(int word, int messageBytes, int receive) throws StreamProtocolException {
        StreamMessage message = StreamMessage.decode(word);
        int behind = messageBytes - StreamMessage.BYTES;
        if (message instanceof StreamMessage.Data data) {
            arrived(data, behind, receive);
            return message;
        }
        if (behind != 0) {
            throw new StreamProtocolException("a message without data has " + messageBytes + " bytes (limit: "
                    + StreamMessage.BYTES + ')');
        }
        if (message == StreamMessage.Control.DISCONNECT) {
            disconnected = true;
            finished = true;
        } else if (message == StreamMessage.Control.SHUTDOWN) {
            finished = true;
            endEntries(0);
        } else if (message == StreamMessage.Control.RECALL || message == StreamMessage.Control.RETURN) {
            checkAgreed((StreamMessage.Control) message);
        }
        return message;
    }

    private void checkAgreed(StreamMessage.Control control) throws StreamProtocolException {
        if (!dataInMessages) {
            throw new StreamProtocolException("a control message of value " + control.ordinal() + " (limit: "
                    + StreamMessage.Control.SHUTDOWN.ordinal() + ')');
        }
        if (control == StreamMessage.Control.RETURN) {
            if (!recalled) {
                throw new StreamProtocolException("the ring is returned without a recall (limit: once for each)");
            }
            recalled = false;
            endEntries(publishedSinceRecall);
        }
    }

    /** Nothing more arrives in the entries, apart from so many of the last ones. */
    private void endEntries(int others) {
        int left = arrivedInRing;
        ringBytes = 0;
        for (int i = entries.size(); i > 0; i--) {
            int size = entries.remove();
            int end = i > others ? Math.min(size, left) : size;
            left = Math.max(0, left - size);
            entries.add(end);
            ringBytes += end;
        }
    }

    private void arrived(StreamMessage.Data data, int behind, int receive) throws StreamProtocolException {
        if (finished) {
            throw new StreamProtocolException("a data message of " + data.bytes() + " bytes after the shutdown (limit: 0)");
        }
        if (taken + count == limitTaken + granted) {
            throw new StreamProtocolException("more data messages than credits (limit: " + granted + ')');
        }
        boolean inMessage = behind != 0;
        if (inMessage) {
            if (!dataInMessages) {
                throw new StreamProtocolException("a message of " + (behind + StreamMessage.BYTES) + " bytes (limit: "
                        + StreamMessage.BYTES + ')');
            }
            if (data.bytes() != behind) {
                throw new StreamProtocolException("a data message tells of " + data.bytes() + " bytes, behind it are " + behind
                        + " (limit: as many)");
            }
        } else {
            arriveInRing(data.bytes());
        }
        int slot = (head + count) % granted;
        bytes[slot] = data.bytes();
        receives[slot] = inMessage ? receive : RING;
        count++;
        readableBytes += data.bytes();
    }

    private void arriveInRing(int size) throws StreamProtocolException {
        int room = roomInEntry();
        if (size > room) {
            throw new StreamProtocolException("a data message tells of " + size + " bytes (limit: the " + room
                    + " that are left in its target entry)");
        }
        arrivedInRing += size;
    }

    /** What is left in the entry that the peer is filling. */
    private int roomInEntry() {
        if (entries.isEmpty()) {
            return 0;
        }
        int first = entries.getFirst();
        return arrivedInRing < first ? first - arrivedInRing : ringBytes - arrivedInRing;
    }

    /**
     * What has arrived and was not taken.
     *
     * @return the bytes
     */
    public long readableBytes() {
        return readableBytes;
    }

    /**
     * Where the oldest data is.
     *
     * @return the number of a receive, or {@link #RING} for the first entry of the ring
     */
    public int oldestReceive() {
        return receives[head];
    }

    /**
     * Where the oldest data begins in its receive, behind the message; or in the first entry of the ring.
     *
     * @return the offset in bytes
     */
    public int oldestOffset() {
        return receives[head] == RING ? takenOfFirst : StreamMessage.BYTES + takenOfHead;
    }

    /**
     * How much of the oldest data lies in one piece.
     *
     * @return the bytes, 0 if there is none
     */
    public int oldestBytes() {
        return count == 0 ? 0 : bytes[head] - takenOfHead;
    }

    /**
     * Whether the peer has filled the first entry of the ring to its end, or has given up the rest, so that it writes there no
     * more.
     *
     * @return {@code true} if so, until {@link #removeTakenEntry()}
     */
    public boolean isFirstEntryFull() {
        return !entries.isEmpty() && arrivedInRing >= entries.getFirst();
    }

    /**
     * The oldest data was taken.
     *
     * @param size so many bytes of it, at most {@link #oldestBytes()}
     * @return whether this was the end of a message, whose receive is free again
     */
    public boolean take(int size) {
        boolean inRing = receives[head] == RING;
        takenOfHead += size;
        readableBytes -= size;
        if (inRing) {
            takenOfFirst += size;
        }
        if (takenOfHead < bytes[head]) {
            return false;
        }
        head = (head + 1) % granted;
        count--;
        takenOfHead = 0;
        taken++;
        return true;
    }

    /**
     * Whether everything in the first entry of the ring has been taken, and nothing more can arrive there. Then another may take
     * its place. After a shutdown or a return that can be so of several.
     *
     * @return {@code true} if so; then the entry is not there any more
     */
    public boolean removeTakenEntry() {
        if (entries.isEmpty() || takenOfFirst < entries.getFirst()) {
            return false;
        }
        int size = entries.remove();
        takenOfFirst = 0;
        arrivedInRing -= size;
        ringBytes -= size;
        return true;
    }

    /**
     * Whether so many messages were taken that the peer should hear of it: half of what it may send.
     *
     * @return {@code true} if so
     */
    public boolean isUpdateDue() {
        return taken - limitTaken >= (granted + 1) / 2;
    }

    /**
     * The limit to tell the peer now.
     *
     * @return how many data messages it may send in all since the start; the low 16 bits count
     */
    public int newLimit() {
        limitTaken = taken;
        return taken + granted;
    }

    /**
     * Whether the peer sends no more data.
     *
     * @return {@code true} after its shutdown or its disconnect
     */
    public boolean isFinished() {
        return finished;
    }

    /**
     * Whether the peer reads no more either.
     *
     * @return {@code true} after its disconnect
     */
    public boolean isDisconnected() {
        return disconnected;
    }
}
