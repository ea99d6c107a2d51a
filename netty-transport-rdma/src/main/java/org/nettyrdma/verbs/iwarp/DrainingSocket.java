package org.nettyrdma.verbs.iwarp;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import org.nettyrdma.verbs.support.TimerQueue;

/**
 * A connection after its queue pair: everything that TCP has taken shall still reach the peer. Closing a socket with unread
 * input makes TCP send a reset, which can overtake and destroy that data. So this side ends its output, throws away input
 * until the peer ends its own, and only then closes; or when the time is over.
 */
final class DrainingSocket implements SocketHandler {

    private static final int MAX_READS = 16;

    private final SocketDrain all;
    private final TimerQueue timers;
    private final Pool<ByteBuffer> stagingPool;
    private final SocketChannel channel;
    private final SelectionKey key;
    private TimerQueue.Timer timer;

    DrainingSocket(SocketDrain all, TimerQueue timers, Pool<ByteBuffer> stagingPool, SocketChannel channel,
            SelectionKey key) {
        this.all = all;
        this.timers = timers;
        this.stagingPool = stagingPool;
        this.channel = channel;
        this.key = key;
    }

    /**
     * Takes the socket over.
     *
     * @param timeoutMillis how long to wait for the peer; 0 closes at once
     */
    void start(int timeoutMillis) {
        key.attach(this);
        try {
            channel.shutdownOutput();
            key.interestOps(SelectionKey.OP_READ);
            if (timeoutMillis <= 0) {
                close();
            } else {
                timer = timers.schedule(timeoutMillis, this::close);
            }
        } catch (Throwable t) {
            SocketFailures.fail(this, t);
        }
    }

    @Override
    public void ready(int readyOperations) throws IOException {
        ByteBuffer scratch = stagingPool.take();
        int n = 1;
        for (int i = 0; n > 0 && i < MAX_READS; i++) {
            n = channel.read(scratch.clear());
        }
        stagingPool.give(scratch.clear());
        if (n < 0) {
            failed(null);
        }
    }

    /** The peer has ended its output too, or the connection is lost: either way there is nothing to wait for. */
    @Override
    public void failed(Exception cause) {
        close();
    }

    /** Waits no longer. What TCP has not delivered yet is the system's business, which gives up after some tries. */
    void close() {
        if (timer != null) {
            timer.cancel();
        }
        all.remove(this);
        SocketFailures.closeQuietly(channel);
    }
}
