package org.nettyrdma.verbs.shm;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.nettyrdma.peer.PeerLog;
import org.nettyrdma.verbs.ConnectionParameters;
import org.nettyrdma.verbs.MemoryRegion;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.QueuePairAttributes;
import org.nettyrdma.verbs.SendWorkRequest;
import org.nettyrdma.verbs.support.Closing;
import org.nettyrdma.verbs.support.SharedReceiveStack;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A queue pair that asks for a connection, and finds out meanwhile which provider is to carry it. From then on that one's queue
 * pair does everything.
 * <pre>{@code
 *               hint                 proof                established
 * connect() ----------> asking -----------------> trying -------------> chosen: shm
 *     | no hint           | no proof, no answer      | cannot be used
 *     '-------------------'--------------------------'----------------> chosen: iwarp
 * }</pre>
 * Until then it keeps the receives, and exposes memory by tags that the chosen queue pair takes over: users tell their peer of
 * them in the private data.
 */
final class SameHostQueuePair implements QueuePair {

    private static final Logger LOGGER = LoggerFactory.getLogger(SameHostQueuePair.class);

    /** Whoever asks carries nothing, and is gone at once. */
    private static final QueuePairAttributes ASKING = new QueuePairAttributes(1, 1, 0, 0, false, 0);

    private final SameHostContext context;
    private final QueuePairAttributes attributes;
    private final Listener listener;
    private final SharedReceiveStack sharedReceives;
    private final EarlyWork early;

    private SocketAddress remote;
    private SocketAddress local;
    private ByteBuffer privateData;
    private QueuePair asking;
    private ShmQueuePair trying;
    private QueuePair chosen;
    private IOException connectFailure;
    private boolean closed;

    SameHostQueuePair(SameHostContext context, QueuePairAttributes attributes, Listener listener) {
        this.context = context;
        this.attributes = attributes;
        this.listener = listener;
        sharedReceives = (SharedReceiveStack) attributes.sharedReceives();
        early = new EarlyWork(context.tags(), attributes.receiveQueueDepth());
        if (sharedReceives != null) {
            sharedReceives.opened(); // also before there is a queue pair that uses it
        }
    }

    // ---- The choice

    @Override
    public void connect(SocketAddress remoteAddress, SocketAddress localAddress, ByteBuffer data) throws IOException {
        checkNotClosed();
        if (asking != null || trying != null) {
            throw new IllegalStateException("connect while it connects");
        }
        SocketAddress reached = ShmAddresses.reached(remoteAddress);
        if (chosen == null && reached instanceof InetSocketAddress inet && !inet.isUnresolved()
                && ShmAddresses.isHinted(context.directory(), inet)) {
            ask(inet, localAddress, data);
            return;
        }
        if (chosen == null) {
            choose(ShmAddresses.isPath(remoteAddress) ? context.shm().createQueuePair(attributes, listener)
                    : context.iwarp().createQueuePair(attributes, listener));
        }
        chosen.connect(reached, localAddress, data);
    }

    private void ask(InetSocketAddress remoteAddress, SocketAddress localAddress, ByteBuffer data) throws IOException {
        int maxBytes = context.capabilities().maxPrivateDataBytes();
        if (data.remaining() > maxBytes) {
            throw new IllegalArgumentException("private data of " + data.remaining() + " bytes, limit " + maxBytes);
        }
        remote = remoteAddress;
        local = localAddress;
        privateData = ByteBuffer.allocate(data.remaining()).put(data.duplicate()).flip();
        QueuePair created = context.iwarp().createQueuePair(ASKING, new Asking());
        try {
            created.connect(remoteAddress, localAddress instanceof InetSocketAddress inet
                    ? new InetSocketAddress(inet.getAddress(), 0) : localAddress, HostProof.question());
            asking = created;
        } finally {
            if (asking == null) {
                created.close();
            }
        }
    }

    /** The listener has said where to find it, or anything else, or nothing. */
    private void answered(ByteBuffer answer) {
        stopAsking();
        Path socket = HostProof.socket(context.directory(), answer);
        if (socket == null) {
            useIwarp();
            return;
        }
        trying = context.shm().createQueuePair(attributes, new Trying());
        try {
            early.exposeTo(trying);
            trying.connect(socket, remote, local, privateData);
        } catch (IOException e) {
            shmFailed(e);
        }
    }

    private void shmFailed(IOException cause) {
        PeerLog.info(LOGGER, remote, "is on this host, but is reached over TCP, as shared memory failed: {}", cause);
        stopAsking();
        useIwarp();
    }

    private void useShm() {
        chosen = trying;
        trying = null;
        try {
            early.postReceivesTo(chosen);
        } catch (IOException e) {
            PeerLog.warn(LOGGER, String.valueOf(remote), "receives that were posted before are refused: {}", e);
            chosen.moveToError();
        }
    }

    private void useIwarp() {
        try {
            choose(context.iwarp().createQueuePair(attributes, new ByIwarp()));
            chosen.connect(remote, local, privateData);
        } catch (IOException e) {
            connectFailure = e;
            chosen.moveToError();
        }
    }

    private void choose(QueuePair queuePair) throws IOException {
        chosen = queuePair;
        early.exposeTo(queuePair);
        early.postReceivesTo(queuePair);
    }

    /** Ends what was begun in order to choose; its listener hears nothing more. */
    private void stopAsking() {
        if (asking != null) {
            asking.close();
            asking = null;
        }
        if (trying != null) {
            trying.close();
            trying = null;
        }
    }

    /** What becomes of the question. */
    private final class Asking implements Listener {

        private static final ByteBuffer NONE = ByteBuffer.allocate(0);

        @Override
        public void established(ConnectionParameters parameters) {
            answered(NONE); // a listener that knows nothing of the question
        }

        @Override
        public void connectFailed(IOException cause, ByteBuffer answer) {
            answered(answer);
        }

        @Override
        public void disconnected(IOException cause) {
            // It stood only for a moment.
        }
    }

    /** What becomes of the connection over shared memory. */
    private final class Trying implements Listener {

        @Override
        public void established(ConnectionParameters parameters) {
            useShm();
            listener.established(parameters);
        }

        @Override
        public void connectFailed(IOException cause, ByteBuffer data) {
            if (!isFromListener(cause)) {
                shmFailed(cause);
                return;
            }
            useShm(); // which flushes what was posted
            listener.connectFailed(cause, data);
        }

        /** Whether the listener has said no, or owes an answer: he would not do better over TCP. */
        private static boolean isFromListener(IOException cause) {
            return cause instanceof RejectedByUserException || cause instanceof EOFException
                    || cause instanceof SocketTimeoutException;
        }

        @Override
        public void disconnected(IOException cause) {
            listener.disconnected(cause);
        }
    }

    /** The connection over TCP, which may fail before it begins. */
    private final class ByIwarp implements Listener {

        @Override
        public void established(ConnectionParameters parameters) {
            listener.established(parameters);
        }

        @Override
        public void connectFailed(IOException cause, ByteBuffer data) {
            listener.connectFailed(connectFailure != null ? connectFailure : cause, data);
        }

        @Override
        public void disconnected(IOException cause) {
            listener.disconnected(cause);
        }
    }

    // ---- What the chosen one does

    @Override
    public void accept(ByteBuffer data) throws IOException {
        throw new IllegalStateException("this queue pair was not created for a request");
    }

    @Override
    public void postReceive(long workRequestId, MemoryRegion region, int offset, int length) throws IOException {
        if (chosen != null) {
            chosen.postReceive(workRequestId, region, offset, length);
        } else {
            checkNotClosed();
            if (sharedReceives != null) {
                throw new IllegalStateException("the receives of this queue pair are shared");
            }
            early.postReceive(workRequestId, region, offset, length);
        }
    }

    @Override
    public void allowReceives(long messages) {
        if (chosen != null) {
            chosen.allowReceives(messages);
        } else {
            early.allowReceives(messages);
        }
    }

    @Override
    public void postSend(SendWorkRequest request) throws IOException {
        if (chosen == null) {
            checkNotClosed();
            throw new IOException("nothing can be sent before the connection stands");
        }
        chosen.postSend(request);
    }

    @Override
    public void flush() {
        if (chosen != null) {
            chosen.flush();
        }
    }

    @Override
    public int expose(MemoryRegion region, int offset, int length, int access) throws IOException {
        if (chosen != null) {
            return chosen.expose(region, offset, length, access);
        }
        checkNotClosed();
        int tag = early.expose(region, offset, length, access);
        if (trying != null) {
            early.exposeTo(trying, tag);
        }
        return tag;
    }

    @Override
    public long remoteOffset(int steeringTag) {
        return chosen != null ? chosen.remoteOffset(steeringTag) : early.remoteOffset(steeringTag);
    }

    @Override
    public boolean invalidate(long workRequestId, int steeringTag) throws IOException {
        if (chosen != null) {
            return chosen.invalidate(workRequestId, steeringTag);
        }
        early.invalidate(steeringTag);
        return trying == null || trying.invalidate(workRequestId, steeringTag);
    }

    @Override
    public SocketAddress localAddress() {
        return chosen != null ? chosen.localAddress() : null;
    }

    @Override
    public SocketAddress remoteAddress() {
        return chosen != null ? chosen.remoteAddress() : remote;
    }

    @Override
    public String awaited() {
        QueuePair current = chosen != null ? chosen : trying != null ? trying : asking;
        return current != null ? current.awaited() : null;
    }

    @Override
    public long movedBytes() {
        return chosen != null ? chosen.movedBytes() : -1;
    }

    @Override
    public String carrier() {
        return chosen != null ? chosen.carrier() : null;
    }

    // ---- The end

    /** Without a connection the end of any queue pair that never had one does. */
    private void chooseForTheEnd() {
        if (chosen == null && !closed) {
            stopAsking();
            try {
                choose(context.iwarp().createQueuePair(attributes, listener));
            } catch (IOException e) {
                PeerLog.warn(LOGGER, String.valueOf(remote), "what was posted before is refused: {}", e);
            }
        }
    }

    @Override
    public void moveToError() {
        chooseForTheEnd();
        if (chosen != null) {
            chosen.moveToError();
        }
    }

    @Override
    public void abort() {
        chooseForTheEnd();
        if (chosen != null) {
            chosen.abort();
        }
    }

    @Override
    public void close() {
        boolean open = !closed;
        closed = true;
        context.closed(this);
        Closing closing = new Closing();
        closing.step(this, SameHostQueuePair::stopAsking);
        if (chosen != null) {
            closing.step(chosen, QueuePair::close);
        }
        if (sharedReceives != null && open) {
            closing.step(sharedReceives, SharedReceiveStack::left);
        }
        closing.end();
    }

    private void checkNotClosed() {
        if (closed) {
            throw new IllegalStateException("the queue pair is closed");
        }
    }
}
