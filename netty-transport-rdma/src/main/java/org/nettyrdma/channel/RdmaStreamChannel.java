package org.nettyrdma.channel;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelMetadata;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.FileRegion;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.SocketChannelConfig;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.concurrent.Future;
import io.netty.util.internal.StringUtil;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NotYetConnectedException;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.stream.StreamHello;
import org.nettyrdma.stream.StreamMessage;
import org.nettyrdma.verbs.ConnectionRequest;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.WorkCompletionStatus;

/**
 * A stream of bytes over an RDMA queue pair, for everything that expects TCP: put this class and an {@link RdmaEventLoopGroup} in
 * the place of Netty's socket channel and its group. The peer is another channel of this class, or a program in C that uses
 * rsockets of rdma-core: the wire protocol is theirs.
 *
 * <h2>Inbound</h2>
 * Buffers are of the channel's allocator, as large as {@code RCVBUF_ALLOCATOR} asks for, or as the data if that is less. The
 * peer writes into a ring that it keeps the right to write to. So data is copied out of the ring, once, and cannot change any
 * more. What lies in a part of the ring that the peer has filled is not copied where it is 32 KiB or more and the channel has its
 * default allocator: the peer loses its access first. Each such buffer holds its part of the ring, at most half of
 * {@code SO_RCVBUF}, until it is released. While no read is wanted ({@code AUTO_READ}) the peer can send one ring more, and then
 * waits. The ring begins with 8 KiB, to which a smaller {@code SO_RCVBUF} is raised. It grows with use, and is small again some
 * time after; towards a peer in C only when that one sends more, or ends its output.
 *
 * <h2>Outbound</h2>
 * {@link ByteBuf} and {@link FileRegion} of any size. Memory of the {@link RegisteredByteBufAllocator}, the channel's default, is
 * sent from where it is, except for many small buffers together; all other memory is copied once. What is copied is counted.
 * Promises complete in order, each when the device has sent the last byte; that of a file when its last byte was copied. Until
 * then a message counts towards the water marks, which are Netty's above {@code SO_SNDBUF} by default. With many channels the
 * share of each in a sixteenth of the registered memory, 4 KiB at least, takes the place of {@code SO_SNDBUF}.
 *
 * <h2>The end</h2>
 * A close is told to the peer behind what was flushed before, as much of it as {@code SO_SNDBUF} allows, with many channels
 * at least 64 KiB. Promises of that succeed with the close: what is not posted yet is copied for it, what is posted goes from
 * where it is. So who has kept a buffer that was written does not change it before {@link #releaseFuture} succeeds. The queue
 * pair stays until the peer has closed its side too, at most {@link RdmaChannelOption#CLOSE_TIMEOUT_MILLIS}, or 16 times as long
 * while the peer takes what was flushed. With {@code SO_LINGER} 0 the connection is cut instead, and the peer sees an
 * {@link IOException}. Half closure is as with TCP: {@link #shutdownOutput()}, {@code ALLOW_HALF_CLOSURE}. Who has shut both
 * directions down takes no more writes. A channel that is deregistered is closed.
 */
public final class RdmaStreamChannel extends QueuePairChannel implements SocketChannel {

    private static final ChannelMetadata METADATA = new ChannelMetadata(false, 16);
    /** A peer in C that does nothing with its connection does not send either. */
    private static final int FIRST_MESSAGE_MILLIS = 100;
    private static final byte[] NO_DATA = {};

    private final RdmaStreamChannelConfig config = new RdmaStreamChannelConfig(this, this::autoReadCleared);
    private volatile boolean outputShutdown;

    // Everything below belongs to the event loop, and is there from registration on.
    private QueuePair queuePair;
    private StreamWork work;
    private StreamDelivery delivery;
    private IOException endCause;
    private Future<?> firstMessageTimeout; // while it is awaited
    private StreamLinger linger;     // once closed, unless that has cut the connection
    /** Bytes may be missing in the stream, or have been posted in part: nothing can follow, not even an end in order. */
    private boolean broken;

    /**
     * A channel to connect with, for {@code Bootstrap.channel(RdmaStreamChannel.class)}.
     */
    public RdmaStreamChannel() {
        this(null, null);
    }

    /** A channel for a connection that a peer asked for; {@code null} without. */
    RdmaStreamChannel(RdmaServerStreamChannel parent, ConnectionRequest request) {
        super(parent, request);
    }

    // --- What users see

    @Override
    public SocketChannelConfig config() {
        return config;
    }

    @Override
    public ServerSocketChannel parent() {
        return (ServerSocketChannel) super.parent();
    }

    @Override
    public ChannelMetadata metadata() {
        return METADATA;
    }

    /**
     * Where this side of the connection is. Any thread.
     *
     * @return the address; before there is a connection the one that was bound to, {@code null} without either, or for a path
     */
    @Override
    public InetSocketAddress localAddress() {
        return RdmaServerStreamChannel.inet(localAddress0()); // the superclass would keep the address that was bound to
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return RdmaServerStreamChannel.inet(super.remoteAddress());
    }

    // --- Half closure

    @Override
    public boolean isInputShutdown() {
        StreamDelivery current = delivery;
        return !isActive() || current != null && current.isInputShutdown();
    }

    @Override
    public boolean isOutputShutdown() {
        return outputShutdown || !isActive();
    }

    @Override
    public boolean isShutdown() {
        return isInputShutdown() && isOutputShutdown();
    }

    @Override
    public ChannelFuture shutdownInput() {
        return shutdownInput(newPromise());
    }

    @Override
    public ChannelFuture shutdownInput(ChannelPromise promise) {
        onLoop(() -> {
            try {
                requireConnected();
                delivery.shutdownInput();
                if (outputShutdown) {
                    doShutdownOutput(); // once more, to say that this side reads no more either
                }
                promise.trySuccess();
            } catch (Throwable t) {
                promise.tryFailure(t);
            }
        });
        return promise;
    }

    @Override
    public ChannelFuture shutdownOutput() {
        return shutdownOutput(newPromise());
    }

    @Override
    public ChannelFuture shutdownOutput(ChannelPromise promise) {
        onLoop(() -> queuePairUnsafe().shutdownOutput(promise));
        return promise;
    }

    @Override
    public ChannelFuture shutdown() {
        return shutdown(newPromise());
    }

    @Override
    public ChannelFuture shutdown(ChannelPromise promise) {
        shutdownOutput().addListener(output -> shutdownInput().addListener(input -> {
            Throwable cause = output.isSuccess() ? input.cause() : output.cause();
            if (cause == null) {
                promise.trySuccess();
            } else {
                promise.tryFailure(cause);
            }
        }));
        return promise;
    }

    private void requireConnected() throws IOException {
        if (!isOpen()) {
            throw new ClosedChannelException();
        }
        if (!isActive()) {
            throw new NotYetConnectedException();
        }
    }

    // --- Registration

    @Override
    void open() throws IOException {
        config.registered(io.postingTools().registeredAllocator());
        try {
            queuePair = connection.open(io, config.queuePairAttributes(io.provider()));
            work = new StreamWork(this, queuePair, config.getReceiveBufferSize());
            draining = new Draining(this, queuePair, work);
            delivery = new StreamDelivery(this, config, work.input());
        } catch (Throwable t) {
            try {
                if (queuePair != null) {
                    queuePair.close();
                    queuePair = null;
                }
            } finally {
                if (work != null) {
                    work.exposureEnded();
                    work = null;
                }
            }
            throw t;
        }
    }

    @Override
    void postReceives() throws IOException {
        work.input().postReceives();
    }

    @Override
    byte[] privateData() {
        return work.privateData();
    }

    @Override
    void agree(ByteBuf peerPrivateData) throws IOException {
        work.agreed(StreamHello.read(peerPrivateData.nioBuffer()), config.getSendBufferSize());
        schedule(); // to tell the peer the second half of the ring
    }

    /**
     * On iWARP this side may not send before the peer has (RFC 5044, section 7.1.2), which every stream does at once. A handler
     * that writes when the channel becomes active finds that it can, as with TCP.
     */
    @Override
    boolean awaitsFirstMessage() {
        firstMessageTimeout = eventLoop().schedule(this::activate, FIRST_MESSAGE_MILLIS, TimeUnit.MILLISECONDS);
        return true;
    }

    private void activate() {
        firstMessageTimeout.cancel(false);
        firstMessageTimeout = null;
        connection.activate();
        schedule(); // nothing was told the peer before
    }

    // --- Work

    @Override
    protected void doBeginRead() {
        if (delivery != null) { // else it is about to be refused
            delivery.beginRead();
        }
    }

    @Override
    void readsCleared() {
        if (delivery != null) { // as above
            delivery.readsCleared();
            if (hasPeerEnded()) {
                schedule();
            }
        }
    }

    @Override
    void takeTurn() {
        try {
            if (isActive() && work.isAgreed()) {
                delivery.passOn();
            }
            if (state() == ChannelState.ACTIVE) {
                boolean posted = work.proceed();
                if (work.output().isWaiting()) {
                    queuePairUnsafe().flush0();
                }
                if (posted && state() == ChannelState.ACTIVE) {
                    work.flush();
                }
            }
            if (hasPeerEnded() && !isSending() && (delivery.isEndTold() || !delivery.isReadExpected())) {
                queuePairUnsafe().flush0(); // which has waited for reads
            }
            boolean hasFailed = state() == ChannelState.ENDED && !connection.isEndPending() && endCause != null;
            if (hasFailed && delivery.isAllPassedOn()) { // an end in order is told when it is read
                finish(endCause);
            }
        } catch (Throwable t) {
            fail(t);
        }
        if (linger != null) {
            linger.proceed();
        }
        if (!isOpen()) {
            draining.limitTime();
        }
    }

    @Override
    void completed(long workRequestId, WorkCompletionStatus status, int byteLength, boolean invalidated, int invalidatedTag,
                   int vendorError) {
        try {
            StreamMessage message = work.completed(workRequestId, status, byteLength);
            if (status == WorkCompletionStatus.WORK_REQUEST_FLUSHED) {
                flushed();
            } else if (status != WorkCompletionStatus.SUCCESS) {
                fail(new RdmaException("a work request of the stream", status, vendorError));
            } else {
                completed(message);
            }
        } catch (Throwable t) {
            failAtOnce(t);
        }
        proceedWithEnd();
    }

    @Override
    void completedWithImmediate(long workRequestId, int byteLength, int immediateData) {
        try {
            completed(work.completedWithImmediate(workRequestId, immediateData));
        } catch (Throwable t) {
            failAtOnce(t);
        }
        proceedWithEnd();
    }

    /** Something was sent, or a message has arrived; {@code null} without. */
    private void completed(StreamMessage message) throws IOException {
        if (message != null && firstMessageTimeout != null) {
            activate();
        } else if (!isOpen()) {
            work.input().discard();
        } else if (!(message instanceof StreamMessage.Data) || delivery.isWanted()) {
            schedule();
        }
    }

    /** What the peer or the device does wrong ends a closed channel at once, too. */
    private void failAtOnce(Throwable cause) {
        fail(cause);
        if (linger != null) {
            linger.end();
        }
    }

    @Override
    protected Object filterOutboundMessage(Object message) {
        if (message instanceof ByteBuf buffer && buffer.isReadable() && buffer.refCnt() <= 0) {
            throw new IllegalReferenceCountException(buffer.refCnt()); // later it would cost the connection
        }
        if (message instanceof ByteBuf || message instanceof FileRegion) {
            return message;
        }
        throw new UnsupportedOperationException("unsupported message type: " + StringUtil.simpleClassName(message)
                + " (expected: ByteBuf, FileRegion)");
    }

    @Override
    protected void doWrite(ChannelOutboundBuffer in) throws Exception {
        if (state() == ChannelState.ENDED && connection.isEndPending()) {
            return; // fails with the cause as soon as that is known
        }
        if (hasPeerEnded()) {
            in.removeBytes(0); // what is empty needs no peer
            if (in.current() == null) {
                return;
            }
            if (endCause == null && !delivery.isEndTold() && (delivery.isReadExpected() || isSending())) {
                return; // what the peer has sent before is read first
            }
            throw endCause != null ? endCause : new IOException("Broken pipe: the peer has closed the connection");
        }
        try {
            work.input().returnCredits(); // so that they leave together with the data
            work.output().write(in);
            work.flush();
        } catch (Throwable t) {
            if (t == work.output().regionFailure()) {
                throw t;
            }
            broken = true;
            throw failureOf(t);
        }
    }

    private boolean hasPeerEnded() {
        return state() == ChannelState.ENDED
                || state() == ChannelState.ACTIVE && work.isAgreed() && work.input().receiver().isDisconnected();
    }

    private boolean isSending() {
        return state() == ChannelState.ACTIVE && work.output().isSending();
    }

    // --- The end

    @Override
    void fail(Throwable cause) {
        broken = true;
        super.fail(cause);
    }

    @Override
    protected void doShutdownOutput() throws Exception {
        requireConnected();
        outputShutdown = true;
        if (broken) {
            closeNow(); // Netty ends the output only, for instance where AUTO_CLOSE is off
        } else if (state() == ChannelState.ACTIVE) {
            try {
                work.end(work.input().receiver().isFinished() || delivery.isInputShutdown() ? StreamMessage.Control.DISCONNECT
                        : StreamMessage.Control.SHUTDOWN);
                work.flush();
            } catch (Throwable t) {
                fail(t);
                throw t;
            }
        }
    }

    @Override
    protected void doClose() {
        if (!isOpen()) {
            return;
        }
        ChannelState before = state();
        // To the peer the connection stands once it has the answer to its request, which may be before this side hears of it.
        boolean stands = before == ChannelState.ACTIVE || before == ChannelState.CONNECTING && connection.isRequested();
        try {
            connectionIs(ChannelState.CLOSED);
            if (firstMessageTimeout != null) {
                firstMessageTimeout.cancel(false);
                firstMessageTimeout = null;
            }
            if (before == ChannelState.CONNECTING) {
                connection.abort();
            }
        } finally { // where a step has failed, for instance for want of memory, the queue pair ends all the same
            end(stands && !broken && config.getSoLinger() != 0);
        }
    }

    private void end(boolean inOrder) {
        if (draining == null) {
            if (connection.isRequested()) {
                connection.reject(NO_DATA); // does nothing if it was rejected before
            }
            released();
            return;
        }
        try {
            if (inOrder) {
                linger = StreamLinger.start(this, work);
            }
        } finally {
            if (linger == null) {
                cut();
            }
        }
    }

    private void cut() {
        try {
            if (config.getSoLinger() == 0) {
                queuePair.abort();
            }
        } finally {
            drain();
        }
    }

    @Override
    void establishedClosed(ByteBuf peerPrivateData) {
        if (linger != null) {
            linger.established(peerPrivateData);
        }
    }

    /** Nothing is left to tell the peer, or to hear from it. */
    void drain() {
        draining.start();
    }

    @Override
    void contextClosed() {
        if (linger != null) {
            linger.cancel();
        }
        work.releaseUnposted();
        super.contextClosed();
    }

    @Override
    int closeTimeoutMillis() {
        return config.getCloseTimeoutMillis();
    }

    @Override
    void released() {
        uncounted(); // not before: a peer that does not close its side could hold the memory of any number of connections
        super.released();
    }

    @Override
    void disconnected(IOException cause) {
        if (isActive()) {
            connectionIs(ChannelState.ENDED);
            boolean inOrder = cause == null && (work.isDisconnectSent() || work.input().receiver().isDisconnected()
                    || work.isShutdownSent() && work.input().receiver().isFinished());
            endCause = inOrder ? null : namedAsWithTcp(cause);
            schedule(); // what arrived before the end is read before the end is told
        }
    }

    /** Handlers know by these words that it was the peer: SslHandler, for instance. */
    private static IOException namedAsWithTcp(IOException cause) {
        if (cause != null && !(cause instanceof EOFException)) {
            return cause;
        }
        return new IOException("Connection reset by peer: " + (cause == null ? "the connection was cut" : cause.getMessage()),
                cause);
    }

    @Override
    void proceedWithEnd() {
        super.proceedWithEnd();
        if (linger != null) {
            linger.proceed();
        }
    }
}
