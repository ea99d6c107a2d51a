package org.nettyrdma.verbs.iwarp;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import org.nettyrdma.verbs.support.TimerQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An accepted TCP connection that has not sent its whole MPA request.
 */
final class HalfOpenConnection implements SocketHandler {

    private static final Logger LOGGER = LoggerFactory.getLogger(HalfOpenConnection.class);

    private final IwarpContext context;
    private final IwarpListener listener;
    private final SocketChannel channel;
    private final MpaFrameReader reader = new MpaFrameReader(false);
    private final SelectionKey key;
    private final TimerQueue.Timer timer;

    HalfOpenConnection(IwarpContext context, IwarpListener listener, SocketChannel channel, int timeoutMillis)
            throws IOException {
        this.context = context;
        this.listener = listener;
        this.channel = channel;
        TcpOptions.apply(channel);
        key = context.register(channel, SelectionKey.OP_READ, this);
        timer = context.timers().schedule(timeoutMillis, this::timedOut);
    }

    @Override
    public void ready(int readyOperations) throws IOException {
        MpaFrame request = reader.read(channel);
        if (request == null) {
            return;
        }
        if (request.wantsMarkers()) {
            LOGGER.debug("{} wants MPA markers, which this side does not send", channel);
            context.statistics().countInvalidRequest();
            end();
            IwarpConnectionRequest.reject(channel, MpaNegotiation.rejection(request));
            return;
        }
        IwarpConnectionRequest complete = new IwarpConnectionRequest(channel, request);
        end();
        context.deregister(key, () -> listener.requestComplete(complete));
    }

    @Override
    public void failed(Exception cause) {
        LOGGER.debug("{} sent no proper MPA request", channel, cause);
        context.statistics().countInvalidRequest();
        close();
    }

    private void timedOut() {
        LOGGER.debug("{} sent no whole MPA request in time", channel);
        context.statistics().countLateRequest();
        close();
    }

    /**
     * Drops the connection.
     */
    void close() {
        end();
        IwarpContext.closeQuietly(channel);
    }

    private void end() {
        timer.cancel();
        listener.halfOpenEnded(this);
    }
}
