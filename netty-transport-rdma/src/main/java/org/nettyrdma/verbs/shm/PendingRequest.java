package org.nettyrdma.verbs.shm;

import java.io.EOFException;
import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import org.nettyrdma.peer.PeerLog;
import org.nettyrdma.verbs.support.SocketFailures;
import org.nettyrdma.verbs.support.SocketHandler;
import org.nettyrdma.verbs.support.TimerQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** An accepted connection that has not sent its whole request. */
final class PendingRequest implements SocketHandler {

    private static final Logger LOGGER = LoggerFactory.getLogger(PendingRequest.class);

    private final ShmLoopParts parts;
    private final ShmListener listener;
    private final SocketChannel channel;
    private final PeerUser user;
    private final SetupFrameReader reader = new SetupFrameReader();
    private final SelectionKey key;
    private final TimerQueue.Timer timer;

    PendingRequest(ShmLoopParts parts, ShmListener listener, SocketChannel channel, PeerUser user, int timeoutMillis)
            throws IOException {
        this.parts = parts;
        this.listener = listener;
        this.channel = channel;
        this.user = user;
        key = parts.sockets().register(channel, SelectionKey.OP_READ, this);
        timer = parts.timers().schedule(timeoutMillis, () -> drop("sent no whole request within " + timeoutMillis + " ms"));
    }

    @Override
    public void ready(int readyOperations) throws IOException {
        SetupFrame frame = reader.read(channel);
        if (frame == null) {
            return;
        }
        if (frame.kind() != SetupFrame.Kind.REQUEST) {
            throw new ShmProtocolException(EndReason.FAILED, "setup frame: kind %s (expected: REQUEST)", frame.kind());
        }
        try {
            user.requireFiles(parts.directory(), frame.instance());
        } catch (EOFException e) {
            PeerLog.info(LOGGER, listener.localAddress(), "a peer of this listener did not wait for an answer: {}", e);
            close();
            return;
        } catch (IOException e) {
            end();
            listener.refuse(channel, e);
            return;
        }
        ShmConnectionRequest complete = new ShmConnectionRequest(parts.directory(), channel, frame, listener.localAddress());
        end();
        listener.complete(complete, key);
    }

    private void end() {
        timer.cancel();
        listener.ended(this);
    }

    @Override
    public void failed(Exception cause) {
        parts.directory().shared().removeDeadSoon(); // perhaps the peer has died
        if (reader.hasBegun()) {
            drop("sent no proper request: " + cause);
        } else {
            LOGGER.debug("a peer connected to {} and left", listener.localAddress()); // to see whether somebody listens
            close();
        }
    }

    /** Ends it, and says why. */
    void drop(String why) {
        PeerLog.warn(LOGGER, listener.localAddress(), "a peer of this listener {}", why);
        parts.statistics().invalidRequests.increment();
        close();
    }

    void close() {
        end();
        SocketFailures.closeQuietly(channel);
    }
}
