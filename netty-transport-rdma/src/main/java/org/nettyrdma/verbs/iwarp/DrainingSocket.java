package org.nettyrdma.verbs.iwarp;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import org.nettyrdma.verbs.support.Pool;
import org.nettyrdma.verbs.support.SocketFailures;
import org.nettyrdma.verbs.support.SocketHandler;
import org.nettyrdma.verbs.support.TimerQueue;

/**
 * A connection after its queue pair: everything that TCP has taken shall still reach the peer. Closing a socket with unread
 * input makes TCP send a reset, which can overtake and destroy that data. So this side ends its output, throws away input
 * until the peer ends its own, and only then closes; or when the time is over.
 *
 * <p>What the peer has not taken by then is dropped with a reset. The system would keep it, half a megabyte for each connection,
 * for minutes, and for as long as the peer likes if that takes a little now and then; and nobody counts it.
 */
final class DrainingSocket implements SocketHandler {

    private static final int MAX_READS = 16;
    /** A peer that has been sent no more is not waited for once it has ended its output: the system may keep so little. */
    private static final int LITTLE_BYTES = 64 * 1024;

    private final SocketDrain all;
    private final TimerQueue timers;
    private final Pool<ByteBuffer> stagingPool;
    private final SocketChannel channel;
    private final SelectionKey key;
    private final boolean little;
    private TimerQueue.Timer timer;
    private boolean waiting;

    /**
     * @param sentBytes what TCP has taken on this connection
     */
    DrainingSocket(SocketDrain all, TimerQueue timers, Pool<ByteBuffer> stagingPool, SocketChannel channel,
            SelectionKey key, long sentBytes) {
        this.all = all;
        this.timers = timers;
        this.stagingPool = stagingPool;
        this.channel = channel;
        this.key = key;
        little = sentBytes <= LITTLE_BYTES;
    }

    /**
     * Takes the socket over.
     *
     * @param timeoutMillis how long to wait for the peer; 0 closes at once
     */
    void start(int timeoutMillis) {
        key.attach(this);
        waiting = true;
        all.waitingBegun();
        try {
            channel.shutdownOutput();
            key.interestOps(SelectionKey.OP_READ);
            if (timeoutMillis <= 0) {
                drop();
            } else {
                timer = timers.schedule(timeoutMillis, this::drop);
            }
        } catch (Throwable t) {
            SocketFailures.fail(this, t);
        }
    }

    @Override
    public void ready(int readyOperations) throws IOException {
        ByteBuffer scratch = stagingPool.take();
        int n = 1;
        try {
            for (int i = 0; n > 0 && i < MAX_READS; i++) {
                n = channel.read(scratch.clear());
            }
        } finally { // also where the peer has reset the connection
            stagingPool.give(scratch.clear());
        }
        if (n < 0 && little) {
            close();
        } else if (n < 0) {
            endWaiting();
            key.interestOps(0); // the peer may still be taking what it was sent, which nothing tells
        }
    }

    /** The connection is lost: there is nothing to wait for. */
    @Override
    public void failed(Exception cause) {
        close();
    }

    /** Waits no longer: what TCP has not delivered yet is lost. */
    void drop() {
        try {
            channel.setOption(StandardSocketOptions.SO_LINGER, 0);
        } catch (IOException e) {
            // The connection is lost, and what was to be delivered with it.
        }
        close();
    }

    private void endWaiting() {
        if (waiting) {
            waiting = false;
            all.waitingEnded();
        }
    }

    private void close() {
        endWaiting();
        if (timer != null) {
            timer.cancel();
        }
        all.remove(this);
        SocketFailures.closeQuietly(channel);
    }
}
