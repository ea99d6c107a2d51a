package org.nettyrdma.channel;

import java.io.IOException;
import org.nettyrdma.stream.StreamMessage;

/**
 * How a message of 32 bits goes out, and the data that is written before it. A peer in C expects the form of its transport: on
 * iWARP an RDMA Write and a Send, on InfiniBand and RoCE an RDMA Write with immediate data. Event loop only.
 */
interface MessageCarrier {

    /** Work requests that {@link #write} posts. */
    int workRequestsPerWrite();

    /**
     * Writes the pieces that were found last, and tells it by a message.
     *
     * @param message what to tell
     * @param key     the peer's steering tag
     * @param address where to write
     * @param payload the references on the pieces, which pass to this, also where it throws
     * @param flushed bytes of the outbound buffer that are done when the message is
     */
    void write(StreamMessage message, int key, long address, Object payload, int flushed) throws IOException;

    /** Sends a message alone. */
    void send(StreamMessage message) throws IOException;

    /**
     * Sends a message and behind it the pieces that were found last. Between two sides that have agreed on it.
     *
     * @param payload as with {@link #write}
     * @param flushed as with {@link #write}
     */
    void sendWithData(StreamMessage message, Object payload, int flushed) throws IOException;
}
