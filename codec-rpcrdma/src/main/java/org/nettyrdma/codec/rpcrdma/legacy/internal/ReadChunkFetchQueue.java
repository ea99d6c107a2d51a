package org.nettyrdma.codec.rpcrdma.legacy.internal;

import java.util.LinkedList;
import java.util.Queue;
import org.nettyrdma.codec.rpcrdma.responder.ReadChunkFetch;

/**
 * The fetches of replies on one connection. They do not wait for the memory of calls: a call that waits for its reply would hold
 * what the reply needs. As many run at once as their bytes allow, the others wait in order, so that a peer cannot
 * make this side allocate memory for all of its credits at once. Holds no memory for those that wait.
 */
final class ReadChunkFetchQueue {

    private final long maxBytes;
    private final Queue<ReadChunkFetch> waiting = new LinkedList<>(); // an array that cannot grow loses what is in it
    private long runningBytes;
    private int running;

    /**
     * @param maxBytes how much may be fetched at once; a larger fetch runs alone
     */
    ReadChunkFetchQueue(long maxBytes) {
        this.maxBytes = maxBytes;
    }

    /** Starts a fetch or lets it wait; the caller flushes. */
    void add(ReadChunkFetch fetch) {
        if (waiting.isEmpty() && fits(fetch)) {
            start(fetch);
            return;
        }
        try {
            waiting.add(fetch);
        } catch (RuntimeException | Error e) { // no memory, for instance
            fetch.release();
            throw e;
        }
    }

    /** A fetch that was started has ended. Starts others in its place; the caller flushes. */
    void ended(ReadChunkFetch fetch) {
        running--;
        runningBytes -= fetch.lengthBytes();
        while (!waiting.isEmpty() && fits(waiting.peek())) {
            start(waiting.remove());
        }
    }

    private boolean fits(ReadChunkFetch fetch) {
        return running == 0 || runningBytes + fetch.lengthBytes() <= maxBytes;
    }

    private void start(ReadChunkFetch fetch) {
        running++;
        runningBytes += fetch.lengthBytes();
        fetch.start(); // last: it may end at once, and then comes back to ended()
    }

    /** The connection has ended; what waits never runs. */
    void close() {
        waiting.forEach(ReadChunkFetch::release);
        waiting.clear();
    }
}
