package org.nettyrdma.verbs.shm;

import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Objects;
import java.util.function.Consumer;
import org.nettyrdma.peer.PeerLog;
import org.nettyrdma.verbs.ConnectionParameters;
import org.nettyrdma.verbs.MemoryRegion;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.QueuePairAttributes;
import org.nettyrdma.verbs.SendWorkRequest;
import org.nettyrdma.verbs.WorkCompletionStatus;
import org.nettyrdma.verbs.support.PowerOfTwo;
import org.nettyrdma.verbs.support.SendRing;
import org.nettyrdma.verbs.support.SharedReceiveStack;
import org.nettyrdma.verbs.support.SocketFailures;
import org.nettyrdma.verbs.support.SteeringTag;
import org.nettyrdma.verbs.support.SteeringTagTable;
import org.nettyrdma.verbs.support.TimerQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection and its life. How it begins is the business of {@link Setup}, messages that of {@link Exchange}.
 * <pre>{@code
 *         connect()              answer          moveToError(), sends under way
 * CREATED ---------> SETTING_UP ------> ESTABLISHED ------> CLOSING ------> ENDED ------> CLOSED
 *         ------------------------------^       ----------------------------^    close()
 *                accept()                           end()
 * }</pre>
 */
final class ShmQueuePair implements QueuePair {

    /** The name of the provider. */
    static final String PROVIDER = "shm";

    private static final Logger LOGGER = LoggerFactory.getLogger(ShmQueuePair.class);

    private static final ByteBuffer NO_DATA = ByteBuffer.allocate(0).asReadOnlyBuffer();

    private enum State { CREATED, SETTING_UP, ESTABLISHED, CLOSING, ENDED, CLOSED }

    private final ShmLoopParts parts;
    private final QueuePairAttributes attributes;
    private final Listener listener;
    private final WorkQueues queues;
    /** Receives of its own or shared ones; the other is {@code null}. */
    private final ReceiveRing ownReceives;
    private final SharedReceiveSource sharedReceives;
    private final Setup setup;
    private final Consumer<ShmQueuePair> closed;

    private State state = State.CREATED;
    private Exchange exchange;
    private TimerQueue.Timer closeTimer;
    private boolean polled;
    private int idlePolls;
    /** What the listener has not been told of the end. */
    private Runnable untold;

    /**
     * A queue pair that asks for a connection, or with a request answers it; {@code null} without.
     *
     * @param closed told of its close
     */
    ShmQueuePair(ShmLoopParts parts, QueuePairAttributes attributes, Listener listener, ShmConnectionRequest request,
                 Consumer<ShmQueuePair> closed) {
        this.parts = parts;
        this.attributes = attributes;
        this.listener = listener;
        this.closed = closed;
        var shared = (SharedReceiveStack) attributes.sharedReceives();
        ownReceives = shared != null ? null : new ReceiveRing(attributes.receiveQueueDepth(), parts.deliveries());
        sharedReceives = shared == null ? null
                : new SharedReceiveSource(shared, parts.takenReceives(), parts.deliveries(), attributes.queuePairNumber(),
                        this::resume);
        queues = new WorkQueues(
                new SendQueue(new SendRing(attributes.sendQueueDepth(), parts.deliveries(), parts.core().slotPool()),
                        attributes.outboundReadDepth()),
                shared == null ? ownReceives : sharedReceives,
                new GrantQueue(PowerOfTwo.atMost(Math.min(attributes.inboundReadDepth(), SetupFrame.MAX_READ_DEPTH)),
                        parts.deliveries()),
                new SteeringTagTable(parts.core().steeringTagGenerator()));
        setup = new Setup(parts, this, request, queues.grants().depth(),
                Math.min(attributes.outboundReadDepth(), SetupFrame.MAX_READ_DEPTH));
        if (sharedReceives != null) {
            sharedReceives.open(); // last, so that a queue pair that does not come about has not to be closed
        }
    }

    // ---- Connection setup

    @Override
    public void connect(SocketAddress remote, SocketAddress local, ByteBuffer privateData) throws IOException {
        checkNotConnected();
        SocketAddress reached = ShmAddresses.reached(remote);
        connect(ShmAddresses.find(parts.directory(), reached), reached, local, privateData);
    }

    /** Connects to a socket that was found by other means than the address. */
    void connect(Path socket, SocketAddress remote, SocketAddress local, ByteBuffer privateData) throws IOException {
        checkNotConnected();
        setup.connect(socket, remote, local, SetupFrame.checkPrivateData(privateData));
        state = State.SETTING_UP;
    }

    private void checkNotConnected() {
        if (state != State.CREATED || setup.isAnswer()) {
            throw new IllegalStateException("connect in state " + state);
        }
    }

    @Override
    public void accept(ByteBuffer privateData) throws IOException {
        if (state != State.CREATED || !setup.isAnswer()) {
            throw new IllegalStateException("accept in state " + state);
        }
        byte[] checked = SetupFrame.checkPrivateData(privateData);
        state = State.SETTING_UP;
        try {
            setup.accept(checked);
        } catch (IOException e) {
            failed(e);
        }
    }

    /** The peer is there. Both control files are closed with the connection, at once where there is no memory for it. */
    void established(OwnControl own, PeerControl peer, SetupFrame frame, int outboundReadDepth) {
        PeerBlocks blocks = null;
        try {
            blocks = parts.peerBlocks(frame.instance());
            exchange = new Exchange(queues, own, peer, blocks, setup::ring, outboundReadDepth);
        } catch (Throwable t) {
            own.close();
            peer.close();
            if (blocks != null) {
                blocks.release();
            }
            throw t;
        }
        state = State.ESTABLISHED;
        parts.statistics().connections.increment();
        ConnectionParameters parameters = new ConnectionParameters(frame.privateDataBuffer(), queues.grants().depth(),
                outboundReadDepth, false, 0);
        deliver(() -> listener.established(parameters));
        startPolling();
    }

    // ---- Work

    @Override
    public void postReceive(long workRequestId, MemoryRegion region, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, region.memory().capacity());
        checkNotClosed();
        if (ownReceives == null) {
            throw new IllegalStateException("the receives of this queue pair are shared");
        }
        if (state == State.ENDED || state == State.CLOSING) {
            flushed(workRequestId);
        } else if (!ownReceives.offer(workRequestId, region, offset, length)) {
            throw new IOException("the receive queue is full: depth " + ownReceives.depth());
        } else if (exchange != null && exchange.isWaitingForReceive()) {
            startPolling();
        }
    }

    @Override
    public void allowReceives(long messages) {
        boolean open = state == State.CREATED || state == State.SETTING_UP || state == State.ESTABLISHED;
        if (sharedReceives != null && open && sharedReceives.allow(messages) && state == State.ESTABLISHED) {
            startPolling();
        }
    }

    /** It is this connection's turn to take what was posted for all. */
    private void resume() {
        if (state == State.ESTABLISHED) {
            startPolling();
            poll();
        }
    }

    @Override
    public void postSend(SendWorkRequest workRequest) throws IOException {
        if (workRequest.opcode() == SendWorkRequest.Opcode.WRITE_WITH_IMMEDIATE) {
            throw new IOException("the provider has no immediate data, see Capabilities.writeWithImmediate");
        }
        checkNotClosed();
        if (workRequest.elementCount() > ControlLayout.MAX_PIECES) {
            throw new IOException(workRequest.elementCount() + " pieces of memory, limit " + ControlLayout.MAX_PIECES);
        }
        if (workRequest.opcode() == SendWorkRequest.Opcode.READ && exchange != null && exchange.agreedReadDepth() == 0) {
            throw new IOException("no RDMA Read can be sent: the outbound read depth is 0");
        }
        if (state == State.ENDED) {
            flushed(workRequest.workRequestId());
        } else if (state != State.ESTABLISHED && state != State.CLOSING) {
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
        if (state == State.ESTABLISHED) {
            startPolling();
            try {
                if (exchange.publish()) {
                    MappedFiles.settle(); // before the user goes on
                }
            } catch (InternalError e) {
                parts.defer(this::probe);
            }
        }
    }

    @Override
    public int expose(MemoryRegion region, int offset, int length, int access) throws IOException {
        SteeringTag.check(region, offset, length, access);
        if (state == State.CLOSING || state == State.ENDED || state == State.CLOSED) {
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
        return state == State.SETTING_UP ? setup.awaited() : null;
    }

    @Override
    public String carrier() {
        return PROVIDER;
    }

    @Override
    public SocketAddress localAddress() {
        return setup.localAddress();
    }

    @Override
    public SocketAddress remoteAddress() {
        return setup.remoteAddress();
    }

    // ---- Progress

    /** Does what the memory of the peer asks for; how much that was. */
    int poll() {
        if (exchange == null) {
            return 0;
        }
        try {
            boolean closing = state == State.CLOSING;
            int work = closing ? exchange.progressOfClose() : exchange.progress();
            if (!closing && exchange.isSettled()) {
                return work; // once is enough: it takes as long as several messages
            }
            boolean peerEnded = exchange.hasPeerEnded();
            MappedFiles.settle(); // a failed access must show here, not in another connection's turn or in a user's code
            if (peerEnded) {
                peerEnded();
                return work + 1;
            }
            if (state == State.CLOSING && !exchange.hasSendsUnderWay()) {
                end(null, NO_DATA, EndReason.CLOSED);
            }
            return work;
        } catch (InternalError e) {
            failed(PeerControl.truncated());
        } catch (Throwable t) {
            SocketFailures.fail(setup, t);
        }
        return 1;
    }

    /** Finds out whether the memory of both sides is still there, and ends the connection if not. */
    void probe() {
        if (exchange != null) {
            try {
                exchange.probe();
                MappedFiles.settle();
            } catch (InternalError e) {
                failed(PeerControl.truncated());
            }
        }
    }

    private void startPolling() {
        idlePolls = 0;
        if (!polled) {
            polled = true;
            parts.polled().add(this);
            try {
                exchange.awake();
                MappedFiles.settle(); // before the user goes on
            } catch (InternalError e) {
                parts.defer(this::probe);
            }
        }
    }

    /** Whether it is to be polled. */
    boolean isPolled() {
        return polled && exchange != null;
    }

    /** It is off the list of those that are. */
    void stopPolling() {
        polled = false;
    }

    /** Counts a poll; how many there were in a row on which nothing happened. */
    int idlePolls(boolean idle) {
        idlePolls = idle ? idlePolls + 1 : 0;
        return idlePolls;
    }

    /** From now on the peer has to wake this side; {@code false} if there is something to do first. */
    boolean fallAsleep() {
        try {
            boolean asleep = exchange.fallAsleep();
            MappedFiles.settle();
            return asleep;
        } catch (InternalError e) {
            failed(PeerControl.truncated());
            return true;
        }
    }

    /** A byte has come over the socket of a connection that stands. */
    void woken() {
        exchange.peerIsReady();
        startPolling();
    }

    /** The socket of a connection that stands has ended. What the peer did before still counts. */
    void socketEnded() throws IOException {
        if (state == State.ESTABLISHED) {
            exchange.finishProgress();
        }
        boolean peerEnded = exchange.hasPeerEnded();
        MappedFiles.settle();
        if (peerEnded) {
            peerEnded();
        } else {
            parts.directory().shared().removeDeadSoon();
            throw new IOException("the process of the peer has ended, or has closed its socket, without a word");
        }
    }

    // ---- The end

    private void peerEnded() throws IOException {
        IOException cause = exchange.peerEnded();
        if (cause != null && state != State.CLOSING) {
            parts.statistics().terminatesReceived.increment();
            PeerLog.info(LOGGER, remoteAddress(), "has ended the connection: {}", cause.getMessage());
        }
        end(state == State.CLOSING ? null : cause, NO_DATA, EndReason.CLOSED);
    }

    void failed(Exception cause) {
        EndReason reason = EndReason.FAILED;
        if (exchange != null && cause instanceof ShmProtocolException violation) {
            parts.statistics().violations.increment();
            LOGGER.debug("{} broke the rules: {}", remoteAddress(), cause.getMessage()); // the listener hears of it and tells
            reason = violation.reason();
        } else if (exchange != null) {
            parts.statistics().lostConnections.increment();
        }
        end(cause instanceof IOException failure ? failure : new IOException(cause), NO_DATA, reason);
    }

    /** The peer has refused. */
    void rejected(String text, ByteBuffer privateData) {
        end(text.isEmpty() ? new RejectedByUserException()
                : new ConnectException("the peer rejected the connection: " + text), privateData, EndReason.CLOSED);
    }

    @Override
    public void moveToError() {
        if (state == State.ESTABLISHED) {
            beginClose();
        } else if (state == State.CREATED || state == State.SETTING_UP) {
            end(new IOException("closed by this side before the connection stood"), NO_DATA, EndReason.CLOSED);
        } else if (state == State.ENDED) {
            completeAll(); // for which there was no memory at the end, for instance
        }
    }

    /**
     * The peer may still copy what it was sent, for half of the close time-out: the other half remains for those who wait for
     * the completions.
     */
    private void beginClose() {
        flush();
        int lingerMillis = attributes.closeTimeoutMillis() / 2;
        if (!exchange.hasSendsUnderWay() || lingerMillis == 0) {
            end(null, NO_DATA, EndReason.CLOSED);
            return;
        }
        state = State.CLOSING;
        try {
            exchange.beginClose();
            MappedFiles.settle(); // before the user goes on
        } catch (InternalError e) {
            parts.defer(this::probe);
        }
        queues.receives().flush();
        queues.steeringTags().clear();
        closeTimer = parts.timers().schedule(lingerMillis, () -> end(null, NO_DATA, EndReason.CLOSED));
    }

    /** Ends the connection and completes everything. The listener hears of it in the order of events. */
    private void end(IOException cause, ByteBuffer privateData, EndReason reason) {
        if (state == State.ENDED || state == State.CLOSED) {
            return;
        }
        Exchange ended = exchange;
        untold = ended == null ? () -> listener.connectFailed(cause, privateData) : () -> listener.disconnected(cause);
        exchange = null;
        state = State.ENDED;
        polled = false;
        if (closeTimer != null) {
            closeTimer.cancel();
        }
        try {
            tell();
        } finally { // each step also after an Error: nobody else takes it
            try {
                if (ended != null) {
                    end(ended, reason, cause);
                }
            } finally {
                try {
                    setup.close(); // only now the peer notices: what it was told is there
                } finally {
                    queues.flush();
                }
            }
        }
    }

    private void tell() {
        if (untold != null) {
            deliver(untold);
            untold = null;
        }
    }

    /** Does what is left of the end. */
    private void completeAll() {
        try {
            tell();
        } finally {
            queues.flush();
        }
    }

    private static void end(Exchange exchange, EndReason reason, IOException cause) {
        try {
            exchange.end(reason, cause == null ? "" : String.valueOf(cause.getMessage()));
        } finally {
            exchange.close();
        }
    }

    /** The peer takes no more of what it was sent. */
    @Override
    public void abort() {
        if (state == State.ESTABLISHED || state == State.CLOSING) {
            end(null, NO_DATA, EndReason.CLOSED);
        } else {
            moveToError();
        }
    }

    @Override
    public void close() {
        boolean open = state != State.CLOSED;
        try {
            abort();
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
