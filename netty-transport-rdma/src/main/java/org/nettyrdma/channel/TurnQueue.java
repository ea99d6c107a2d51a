package org.nettyrdma.channel;

/**
 * The channels of an event loop that want a turn, each once, in the order in which they have asked. There is room for all that
 * are registered: a channel that could not ask for want of memory would never be served again. They stand in an array and are
 * not linked by themselves, as each link would be a reference that a message stores into an old object of its own connection.
 * Event loop only.
 */
final class TurnQueue {

    private QueuePairChannel[] waiting = new QueuePairChannel[16]; // a power of two
    private int head;
    private int size;

    /**
     * Makes room. Changes nothing if there is no memory for that.
     *
     * @param channels so many there are at most, one more than before
     */
    void reserve(int channels) {
        if (channels > waiting.length) {
            QueuePairChannel[] larger = new QueuePairChannel[2 * waiting.length];
            for (int i = 0; i < size; i++) {
                larger[i] = waiting[index(i)];
            }
            waiting = larger;
            head = 0;
        }
    }

    /** Does nothing if the channel is in the queue. */
    void add(QueuePairChannel channel) {
        if (!channel.awaitsTurn) {
            reserve(size + 1); // one that is not registered any more may be here beside those that are
            waiting[index(size)] = channel;
            size++;
            channel.awaitsTurn = true;
        }
    }

    /** The one that waits longest, which can be added again; there must be one. */
    QueuePairChannel remove() {
        QueuePairChannel channel = waiting[head];
        waiting[head] = null; // a channel that is gone is not kept
        head = index(1);
        size--;
        channel.awaitsTurn = false;
        return channel;
    }

    int size() {
        return size;
    }

    private int index(int place) {
        return head + place & waiting.length - 1;
    }
}
