package org.nettyrdma.verbs.iwarp;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.Objects;
import java.util.function.Consumer;
import org.nettyrdma.peer.PeerAddress;
import org.nettyrdma.peer.PeerLog;
import org.nettyrdma.verbs.ConnectionParameters;
import org.nettyrdma.verbs.MemoryRegion;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.QueuePairAttributes;
import org.nettyrdma.verbs.SendWorkRequest;
import org.nettyrdma.verbs.WorkCompletionStatus;
import org.nettyrdma.verbs.support.SendRing;
import org.nettyrdma.verbs.support.SharedReceiveStack;
import org.nettyrdma.verbs.support.SocketFailures;
import org.nettyrdma.verbs.support.SocketHandler;
import org.nettyrdma.verbs.support.SteeringTag;
import org.nettyrdma.verbs.support.SteeringTagTable;
import org.nettyrdma.verbs.support.TimerQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection and its life. Messages are the business of {@link DuplexStream}.
 * <pre>{@code
 *           connect()             TCP stands            reply read
 * CREATED ------------> CONNECTING ---------> NEGOTIATING -------> ESTABLISHED ------> ENDED ------> CLOSED
 *         --------------------------------------------^   reply written         end()        close()
 *           accept()
 * }</pre>
 */
final class IwarpQueuePair implements QueuePair, SocketHandler, SharedReceiveSource.Owner {

    /** The name of the provider. */
    static final String PROVIDER = "iwarp";

    private static final Logger LOGGER = LoggerFactory.getLogger(IwarpQueuePair.class);

    /**
     * How long a responder may take for its MPA reply: as long as Linux tries to connect. Users of channels mostly wait for less,
     * see CONNECT_TIMEOUT_MILLIS.
     */
    private static final int REPLY_TIMEOUT_MILLIS = 120_000;
    /**
     * Linux siw can miss what arrives right behind its reply until something else arrives. So an initiator announces itself once
     * more after this time; also if it has heard of the peer, whose program may send first. But not if it has sent something
     * since then: siw closes its socket as soon as its program has sent all, and TCP drops what is under way when more arrives.
     */
    private static final int SECOND_ANNOUNCEMENT_MILLIS = 100;

    private static final ByteBuffer NO_DATA = ByteBuffer.allocate(0).asReadOnlyBuffer();

    private enum State { CREATED, CONNECTING, NEGOTIATING, ESTABLISHED, ENDED, CLOSED }

    private final IwarpLoopParts parts;
    private final QueuePairAttributes attributes;
    private final Listener listener;
    private final WorkQueues queues;
    /** Receives of its own or shared ones; the other is {@code null}. */
    private final ReceiveRing ownReceives;
    private final SharedReceiveSource sharedReceives;
    /** What this side answers, or {@code null} if it asks. */
    private final IwarpConnectionRequest request;
    private final Consumer<IwarpQueuePair> closed;

    private State state = State.CREATED;
    private SocketChannel channel;
    private SelectionKey key;
    private SocketAddress localAddress;
    private SocketAddress remoteAddress;

    private ByteBuffer setupFrame;
    private MpaFrameReader replyReader;
    private MpaNegotiation negotiation;
    private TimerQueue.Timer timer;
    private DuplexStream stream;
    private boolean resumeDeferred;
    private boolean aborted;
    private boolean endedHere;
    /** What the listener has not been told of the end. */
    private Runnable untold;

    /**
     * A queue pair that asks for a connection, or with a request answers it; {@code null} without.
     *
     * @param closed told of its close
     */
    IwarpQueuePair(IwarpLoopParts parts, QueuePairAttributes attributes, Listener listener, IwarpConnectionRequest request,
                   Consumer<IwarpQueuePair> closed) {
        this.parts = parts;
        this.closed = closed;
        this.attributes = attributes;
        this.listener = listener;
        this.request = request;
        SendRing sends = new SendRing(attributes.sendQueueDepth(), parts.deliveries(), parts.core().slotPool());
        SteeringTagTable steeringTags = new SteeringTagTable(parts.core().steeringTagGenerator());
        var shared = (SharedReceiveStack) attributes.sharedReceives();
        ownReceives = shared != null ? null : new ReceiveRing(attributes.receiveQueueDepth(), parts.deliveries());
        sharedReceives = shared == null ? null
                : new SharedReceiveSource(shared, parts.deliveries(), attributes.queuePairNumber(), this);
        queues = new WorkQueues(sends, shared == null ? ownReceives : sharedReceives, steeringTags);
        if (request != null) {
            channel = request.channel();
            localAddress = request.localAddress();
            remoteAddress = request.remoteAddress();
        }
        if (sharedReceives != null) {
            sharedReceives.open(); // last, so that a queue pair that does not come about has not to be closed
        }
    }

    // ---- Connection setup

    @Override
    public void connect(SocketAddress remote, SocketAddress local, ByteBuffer privateData) throws IOException {
        if (state != State.CREATED || request != null) {
            throw new IllegalStateException("connect in state " + state);
        }
        requireResolved(remote);
        requireResolved(local);
        setupFrame = MpaNegotiation.request(attributes, MpaNegotiation.checkPrivateData(privateData)).encode();
        replyReader = new MpaFrameReader(true);
        remoteAddress = remote;
        channel = SocketChannel.open();
        try {
            TcpOptions.apply(channel);
            if (local != null) {
                channel.bind(local);
            }
            key = parts.sockets().register(channel, SelectionKey.OP_CONNECT, this);
            if (channel.connect(remote)) {
                parts.defer(this::connectedAtOnce);
            }
        } catch (Throwable t) {
            SocketFailures.closeQuietly(channel);
            throw t;
        }
        state = State.CONNECTING;
    }

    static void requireResolved(SocketAddress address) throws UnknownHostException {
        if (address instanceof InetSocketAddress inet && inet.isUnresolved()) {
            throw new UnknownHostException(inet.getHostString());
        }
    }

    private void connectedAtOnce() {
        if (state == State.CONNECTING) {
            try {
                connected();
            } catch (Throwable t) {
                SocketFailures.fail(this, t);
            }
        }
    }

    private void connected() throws IOException {
        localAddress = channel.getLocalAddress();
        remoteAddress = channel.getRemoteAddress(); // not the wildcard, which leads to the loopback address
        state = State.NEGOTIATING;
        timer = parts.timers().schedule(REPLY_TIMEOUT_MILLIS, () ->
                failed(new SocketTimeoutException("no MPA reply from " + remoteAddress + " within " + REPLY_TIMEOUT_MILLIS
                        + " ms")));
        negotiate();
    }

    @Override
    public void accept(ByteBuffer privateData) throws IOException {
        if (state != State.CREATED || request == null) {
            throw new IllegalStateException("accept in state " + state);
        }
        byte[] userData = MpaNegotiation.checkPrivateData(privateData);
        key = parts.sockets().register(channel, 0, this);
        negotiation = MpaNegotiation.afterRequest(attributes, request.frame());
        setupFrame = negotiation.reply(request.frame(), userData).encode();
        state = State.NEGOTIATING;
        try {
            negotiate();
        } catch (IOException e) {
            failed(e);
        }
    }

    /** Writes this side's frame; then a responder is done, and an initiator reads the answer when the socket has it. */
    private void negotiate() throws IOException {
        if (setupFrame.hasRemaining()) {
            channel.write(setupFrame);
            if (setupFrame.hasRemaining()) {
                key.interestOps(SelectionKey.OP_WRITE);
            } else if (request != null) {
                established(request.frame());
            } else {
                key.interestOps(SelectionKey.OP_READ);
            }
            return;
        }
        MpaFrame reply = replyReader.read(channel);
        if (reply != null) {
            replied(reply);
        }
    }

    private void replied(MpaFrame reply) throws IOException {
        timer.cancel();
        try {
            negotiation = MpaNegotiation.afterReply(attributes, reply);
        } catch (ConnectException e) {
            end(e, reply.userData());
            return;
        } catch (ProtocolViolationException e) {
            // The peer has accepted and learns by a Terminate, for which there must be a stream.
            stream = new DuplexStream(parts, channel, key, queues, MpaNegotiation.none(attributes.checksum()));
            throw e;
        }
        established(reply);
        stream.announce();
        timer = parts.timers().schedule(SECOND_ANNOUNCEMENT_MILLIS, this::announceAgain);
    }

    private void announceAgain() {
        if (state == State.ESTABLISHED && !stream.hasAnswered()) {
            try {
                stream.announce();
            } catch (Throwable t) { // of this connection, and no matter of the others whose timers are due
                SocketFailures.fail(this, t);
            }
        }
    }

    private void established(MpaFrame peerFrame) {
        stream = new DuplexStream(parts, channel, key, queues, negotiation);
        state = State.ESTABLISHED;
        parts.statistics().connections.increment();
        setupFrame = null;
        replyReader = null;
        ConnectionParameters parameters = new ConnectionParameters(peerFrame.userData(), negotiation.inboundReadDepth(),
                negotiation.outboundReadDepth(), negotiation.checksum(), peerFrame.revision());
        deliver(() -> listener.established(parameters));
    }

    // ---- Work

    @Override
    public void postReceive(long workRequestId, MemoryRegion region, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, region.memory().capacity());
        checkNotClosed();
        if (ownReceives == null) {
            throw new IllegalStateException("the receives of this queue pair are shared");
        }
        if (state == State.ENDED) {
            flushed(workRequestId);
        } else if (!ownReceives.offer(workRequestId, region, offset, length)) {
            throw new IOException("the receive queue is full: depth " + ownReceives.depth());
        } else {
            resumeSoon();
        }
    }

    @Override
    public void allowReceives(long messages) {
        if (sharedReceives != null && state != State.ENDED && state != State.CLOSED && sharedReceives.allow(messages)) {
            resumeSoon();
        }
    }

    /** Once for all receives that are posted now. */
    private void resumeSoon() {
        if (stream != null && stream.isWaitingForReceive() && !resumeDeferred) {
            parts.defer(this::resume);
            resumeDeferred = true; // not before there is something that takes it back
        }
    }

    @Override
    public void receivePosted() {
        resume();
    }

    @Override
    public void messageTooSlow() {
        failed(new SocketTimeoutException("the peer has sent only a part of a message for "
                + SharedReceiveStack.INCOMPLETE_LIMIT_MILLIS + " ms, while others waited for a shared receive"));
    }

    private void resume() {
        resumeDeferred = false;
        if (state == State.ESTABLISHED && stream.isWaitingForReceive()) {
            try {
                stream.resume();
            } catch (Throwable t) {
                SocketFailures.fail(this, t);
            }
        }
    }

    @Override
    public void postSend(SendWorkRequest workRequest) throws IOException {
        checkNotClosed();
        if (workRequest.elementCount() > FpduBatch.MAX_PIECES) {
            throw new IOException(workRequest.elementCount() + " pieces of memory, limit " + FpduBatch.MAX_PIECES);
        }
        if (workRequest.opcode() == SendWorkRequest.Opcode.WRITE_WITH_IMMEDIATE) {
            throw new IOException("iWARP has no RDMA Write with immediate data");
        }
        if (workRequest.opcode() == SendWorkRequest.Opcode.READ && stream != null && stream.outboundReadDepth() == 0) {
            throw new IOException("no RDMA Read can be sent: the outbound read depth is 0");
        }
        if (state == State.ENDED) {
            flushed(workRequest.workRequestId());
        } else if (state != State.ESTABLISHED) {
            throw new IOException("nothing can be sent before the connection stands");
        } else if (!queues.sends().offer(workRequest)) {
            throw new IOException("the send queue is full: depth " + queues.sends().depth());
        }
    }

    private void flushed(long workRequestId) {
        parts.deliveries().complete(workRequestId, WorkCompletionStatus.WORK_REQUEST_FLUSHED, 0, 0);
    }

    @Override
    public void flush() {
        flush(false);
    }

    private void flush(boolean ifFull) {
        if (state == State.ESTABLISHED) {
            try {
                if (ifFull) {
                    stream.flushIfFull();
                } else {
                    stream.flush();
                }
            } catch (Throwable t) { // no memory, for instance: what is encoded in part must not be sent, and nothing behind it
                SocketFailures.fail(this, t);
            }
        }
    }

    @Override
    public int expose(MemoryRegion region, int offset, int length, int access) throws IOException {
        SteeringTag.check(region, offset, length, access);
        if (state == State.ENDED || state == State.CLOSED) {
            throw new IOException("the connection has ended");
        }
        return queues.steeringTags().expose(region, offset, length, access).value();
    }

    @Override
    public long remoteOffset(int steeringTag) {
        return queues.steeringTags().remoteOffset(steeringTag);
    }

    @Override
    public boolean invalidate(long workRequestId, int steeringTag) {
        return queues.steeringTags().invalidate(workRequestId, steeringTag);
    }

    @Override
    public String awaited() {
        return switch (state) {
            case CONNECTING -> "no TCP connection was made";
            case NEGOTIATING -> "TCP connected, but no MPA reply came: the server accepts no connections, or is no RDMA listener";
            case CREATED, ESTABLISHED, ENDED, CLOSED -> null;
        };
    }

    @Override
    public long movedBytes() {
        flush(true);
        return stream == null ? 0 : stream.receivedBytes() + stream.sentBytes();
    }

    @Override
    public String carrier() {
        return PROVIDER;
    }

    @Override
    public SocketAddress localAddress() {
        return localAddress;
    }

    @Override
    public SocketAddress remoteAddress() {
        return remoteAddress;
    }

    // ---- Progress, and the end

    @Override
    public void ready(int readyOperations) throws IOException {
        switch (state) {
            case CONNECTING -> {
                if (channel.finishConnect()) {
                    connected();
                }
            }
            case NEGOTIATING -> negotiate();
            case ESTABLISHED -> {
                if (!stream.ready(readyOperations)) {
                    end(null, NO_DATA);
                }
            }
            case CREATED -> throw new IllegalStateException("no socket is registered in state " + state);
            case ENDED, CLOSED -> SocketFailures.closeQuietly(channel); // nothing could take it over at the end
        }
    }

    @Override
    public void failed(Exception cause) {
        if (cause instanceof ProtocolViolationException violation) {
            parts.statistics().violations.increment();
            LOGGER.debug("{} broke the protocol: {}", remoteAddress, cause.getMessage()); // the listener hears of it and tells
            terminate(violation.reason());
            end(violation, NO_DATA);
        } else if (cause instanceof PeerTerminatedException terminated) {
            parts.statistics().terminatesReceived.increment();
            PeerLog.info(LOGGER, remoteAddress, "has sent a Terminate: {}", terminated.terminateMessage().describe());
            stream.terminatedByPeer(terminated.terminateMessage());
            end(terminated.explained(stream.longestSendBytes()), NO_DATA);
        } else {
            if (state == State.ESTABLISHED) {
                parts.statistics().lostConnections.increment();
            }
            end(cause instanceof IOException failure ? failure : new IOException(cause), NO_DATA);
        }
    }

    private void terminate(TerminateReason reason) {
        if (stream != null) {
            try {
                stream.terminate(reason);
            } catch (IOException | OutOfMemoryError e) { // without memory to say why, the connection ends all the same
                LOGGER.debug("Terminate to {} not sent: {}", remoteAddress, e.getMessage());
            }
        }
    }

    @Override
    public void moveToError() {
        if (state == State.ESTABLISHED) {
            try {
                stream.flush();
            } finally { // also without memory for the flush: the peer must not reach memory that is given back
                endedHere = true;
                end(null, NO_DATA);
            }
        } else if (state == State.CREATED || state == State.CONNECTING || state == State.NEGOTIATING) {
            end(new IOException("closed by this side before the connection stood"), NO_DATA);
        } else if (state == State.ENDED) {
            completeAll(); // for which there was no memory at the end, for instance
        }
    }

    @Override
    public void abort() {
        aborted = true;
        moveToError();
    }

    /** Ends the connection and completes everything. The listener hears of it in the order of events. */
    private void end(IOException cause, ByteBuffer privateData) {
        boolean wasEstablished = state == State.ESTABLISHED;
        boolean unanswered = state == State.CREATED && request != null;
        if (state == State.ENDED || state == State.CLOSED) {
            return;
        }
        untold = wasEstablished ? () -> listener.disconnected(cause) : () -> listener.connectFailed(cause, privateData);
        state = State.ENDED;
        if (timer != null) {
            timer.cancel();
        }
        // The rest of what is held up, be it the Terminate, cannot follow. A peer that has caused the end misses nothing.
        boolean dropped = stream != null && stream.isHeldUp() && !endedHere;
        try {
            completeAll();
        } finally { // also after an Error: nobody else closes the socket
            if (wasEstablished) {
                parts.draining().drain(channel, key, PeerAddress.of(remoteAddress), stream.sentBytes(),
                        dropped || aborted ? 0 : attributes.closeTimeoutMillis());
            } else if (unanswered) {
                request.refuse();
            } else if (channel != null) {
                SocketFailures.closeQuietly(channel);
            }
        }
    }

    /** Tells the end, lets go of all memory, and completes everything. Does what is left of that when it is called again. */
    private void completeAll() {
        try {
            if (untold != null) {
                deliver(untold);
                untold = null;
            }
        } finally {
            try {
                if (stream != null) {
                    stream.close();
                }
            } finally {
                queues.flush();
            }
        }
    }

    @Override
    public void close() {
        boolean open = state != State.CLOSED;
        try {
            moveToError();
        } finally {
            state = State.CLOSED;
            closed.accept(this);
            if (sharedReceives != null && open) {
                sharedReceives.close();
            }
        }
    }

    private void deliver(Runnable event) {
        parts.deliveries().event(() -> {
            if (state != State.CLOSED) {
                event.run();
            }
        });
    }

    private void checkNotClosed() {
        if (state == State.CLOSED) {
            throw new IllegalStateException("the queue pair is closed");
        }
    }
}
