package org.nettyrdma.channel;

import java.io.IOException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicInteger;
import org.nettyrdma.verbs.Capabilities;
import org.nettyrdma.verbs.CompletionHandler;
import org.nettyrdma.verbs.ConnectionListener;
import org.nettyrdma.verbs.ConnectionParameters;
import org.nettyrdma.verbs.ConnectionRequest;
import org.nettyrdma.verbs.ListenAttributes;
import org.nettyrdma.verbs.MemoryRegion;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.QueuePairAttributes;
import org.nettyrdma.verbs.SendWorkRequest;
import org.nettyrdma.verbs.SharedReceiveQueue;
import org.nettyrdma.verbs.VerbsContext;
import org.nettyrdma.verbs.VerbsProvider;
import org.nettyrdma.verbs.WorkCompletionStatus;

/**
 * Software iWARP with the behaviour of other devices, and with their failures: invalidations that take time, completions
 * with an error or never, a context that breaks. The switches may be set from any thread.
 */
public final class FaultyProvider implements VerbsProvider {

    private final VerbsProvider real = Rdma.provider("iwarp");

    /** Invalidations complete one poll later, as on hardware. */
    public volatile boolean slowInvalidation;
    /** Nothing is completed any more. */
    volatile boolean withholdCompletions;
    /** The next Send, RDMA Write or RDMA Read that completes does so with this. */
    volatile WorkCompletionStatus nextSendStatus;
    /** The next post to a send queue fails. */
    volatile boolean refuseNextPost;
    /** Queue pairs can neither be moved to the error state nor closed. */
    volatile boolean refuseEnds;
    /** Queue pairs cannot be closed, and stay. */
    volatile boolean refuseCloses;
    /** Queue pairs that are closed say that the device may still use the memory of what was posted. */
    volatile boolean keepPosted;
    /** Queue pairs that are closed say that the peer may still reach what was exposed. */
    public volatile boolean keepExposed;
    /** Invalidations fail. */
    public volatile boolean refuseInvalidations;
    /** The next invalidation fails with this. */
    volatile Error nextInvalidationError;
    /** Memory cannot be exposed. */
    volatile boolean refuseExposures;
    /** The offset of exposed memory cannot be told: this is thrown once. */
    volatile Error nextOffsetError;
    /** The next move to the error state fails with this. */
    volatile Error nextEndError;
    /** The next request of a peer does not tell where that is. */
    volatile boolean hideNextPeer;
    /** Listeners tell of a failure when they are closed. */
    volatile boolean complainOfListeners;
    /** The capabilities are told so many times more, and fail once then; not while it is negative. */
    final AtomicInteger capabilitiesLeft = new AtomicInteger(-1);
    /** Memory cannot be registered. */
    volatile boolean refuseRegistrations;
    /** A connection that this side asks for is told of in one go with the first message that comes over it. */
    volatile boolean establishWithMessage;
    /** A connection that a peer asks for has ended when it is told that it stands. */
    volatile boolean endBeforeEstablished;
    /** The next poll fails with this. */
    volatile Exception nextPollFailure;
    /** Receives are shared; to be set before the first event loop. */
    volatile boolean sharesReceives;
    /** Opening a context fails. */
    volatile boolean refuseContexts;
    /** There is no queue pair for the request of a peer: this is thrown. */
    public volatile Throwable queuePairFailure;
    /** No request of a peer can be answered with yes: this is thrown. */
    public volatile Throwable acceptFailure;
    /** How many requests may wait at the listener that was opened last. */
    volatile int backlog;
    final AtomicInteger contexts = new AtomicInteger();

    @Override
    public String name() {
        return "faulty";
    }

    @Override
    public Throwable unavailabilityCause() {
        return null;
    }

    @Override
    public Capabilities capabilities() {
        if (capabilitiesLeft.get() >= 0 && capabilitiesLeft.getAndDecrement() == 0) {
            throw new OutOfMemoryError("expected");
        }
        Capabilities all = real.capabilities();
        return new Capabilities(all.maxGatherElements(), all.maxReadScatterElements(), all.maxQueueDepth(), all.maxReadDepth(),
                all.maxMessageBytes(), all.maxPrivateDataBytes(), all.sendWithInvalidate(), all.writeWithImmediate(),
                all.exposure(), all.receiverWaits(),
                sharesReceives ? all.maxSharedReceives() : 0); // else those of a channel can be lost
    }

    @Override
    public ByteBuffer allocate(int bytes) throws IOException {
        return real.allocate(bytes);
    }

    @Override
    public void free(ByteBuffer memory) {
        real.free(memory);
    }

    @Override
    public MemoryRegion registerMemory(ByteBuffer memory) throws IOException {
        if (refuseRegistrations) {
            throw new IOException("the device has no room for a region");
        }
        return real.registerMemory(memory);
    }

    @Override
    public VerbsContext openContext() throws IOException {
        if (refuseContexts) {
            throw new IOException("no context");
        }
        contexts.incrementAndGet();
        return new Context(real.openContext());
    }

    private static void failWith(Throwable failure) throws IOException {
        if (failure instanceof IOException e) {
            throw e;
        } else if (failure instanceof RuntimeException e) {
            throw e;
        } else if (failure != null) {
            throw (Error) failure;
        }
    }

    private final class Context implements VerbsContext {

        private final VerbsContext context;
        private final Queue<Long> invalidated = new ArrayDeque<>();
        private Runnable established;
        private boolean closed;

        Context(VerbsContext context) {
            this.context = context;
        }

        @Override
        public QueuePair createQueuePair(QueuePairAttributes attributes, QueuePair.Listener listener) throws IOException {
            return new Pair(this, context.createQueuePair(attributes, establishWithMessage ? new Held(listener) : listener));
        }

        @Override
        public QueuePair createQueuePair(QueuePairAttributes attributes, QueuePair.Listener listener, ConnectionRequest request)
                throws IOException {
            failWith(queuePairFailure);
            if (!endBeforeEstablished) {
                return new Pair(this, context.createQueuePair(attributes, listener, request));
            }
            Ended ended = new Ended(listener);
            ended.pair = context.createQueuePair(attributes, ended, request);
            return new Pair(this, ended.pair);
        }

        @Override
        public SharedReceiveQueue createSharedReceiveQueue(int depth) throws IOException {
            return context.createSharedReceiveQueue(depth);
        }

        @Override
        public ConnectionListener listen(SocketAddress address, int backlog, ListenAttributes attributes,
                                         ConnectionListener.Handler listener) throws IOException {
            FaultyProvider.this.backlog = backlog;
            return new Listening(context.listen(address, backlog, attributes, new Requests(listener)));
        }

        @Override
        public int poll(CompletionHandler handler, int maxCompletions) throws IOException {
            Exception failure = nextPollFailure;
            nextPollFailure = null;
            failWith(failure);
            int count = 0;
            for (int waiting = invalidated.size(); waiting > 0; waiting--, count++) {
                handler.onCompletion(invalidated.remove(), WorkCompletionStatus.SUCCESS, 0, false, 0, 0);
            }
            return count + context.poll(new Faults(handler), maxCompletions);
        }

        @Override
        public boolean canAwaitUnpolled() {
            return context.canAwaitUnpolled();
        }

        @Override
        public void await(long timeoutNanos) throws IOException {
            if (invalidated.isEmpty()) {
                context.await(timeoutNanos);
            }
        }

        @Override
        public void wakeup() {
            context.wakeup();
        }

        @Override
        public void close() {
            context.close();
            closed = true;
        }

        /** Passes completions on, changed or not. */
        private final class Faults implements CompletionHandler {

            private final CompletionHandler handler;

            Faults(CompletionHandler handler) {
                this.handler = handler;
            }

            @Override
            public void onCompletion(long id, WorkCompletionStatus status, int byteLength, boolean byPeer, int tag,
                                     int vendorError) {
                WorkCompletionStatus forced = nextSendStatus;
                if (withholdCompletions) {
                    return;
                }
                if (established != null && WorkRequestId.kind(id) == WorkRequestId.RECEIVE) {
                    Runnable event = established;
                    established = null;
                    event.run();
                }
                if (forced != null && WorkRequestId.kind(id) == WorkRequestId.SEND) {
                    nextSendStatus = null;
                    handler.onCompletion(id, forced, 0, false, 0, 77);
                } else {
                    handler.onCompletion(id, status, byteLength, byPeer, tag, vendorError);
                }
            }

            @Override
            public void onSharedReceive(int queuePairNumber, long id, WorkCompletionStatus status, int byteLength,
                                        boolean byPeer, int tag, int vendorError) {
                handler.onSharedReceive(queuePairNumber, id, status, byteLength, byPeer, tag, vendorError);
            }
        }

        /** Tells of the connection with its first message. */
        private final class Held implements QueuePair.Listener {

            private final QueuePair.Listener listener;

            Held(QueuePair.Listener listener) {
                this.listener = listener;
            }

            @Override
            public void established(ConnectionParameters parameters) {
                established = () -> listener.established(parameters);
            }

            @Override
            public void connectFailed(IOException cause, ByteBuffer privateData) {
                listener.connectFailed(cause, privateData);
            }

            @Override
            public void disconnected(IOException cause) {
                listener.disconnected(cause);
            }
        }
    }

    /** Passes requests on, with an address or not. */
    private final class Requests implements ConnectionListener.Handler {

        private final ConnectionListener.Handler handler;

        Requests(ConnectionListener.Handler handler) {
            this.handler = handler;
        }

        @Override
        public void connectionRequested(ConnectionRequest request) {
            boolean hides = hideNextPeer;
            hideNextPeer = false;
            handler.connectionRequested(hides ? new Hidden(request) : request);
        }

        @Override
        public void acceptFailed(Throwable cause) {
            handler.acceptFailed(cause);
        }
    }

    /** A request that does not tell where the peer is. */
    private record Hidden(ConnectionRequest request) implements ConnectionRequest {

        @Override
        public SocketAddress localAddress() {
            return request.localAddress();
        }

        @Override
        public SocketAddress remoteAddress() {
            throw new IllegalStateException("the device does not tell");
        }

        @Override
        public ByteBuffer privateData() {
            return request.privateData();
        }

        @Override
        public void reject(ByteBuffer privateData) {
            request.reject(privateData);
        }
    }

    private final class Listening implements ConnectionListener {

        private final ConnectionListener listener;

        Listening(ConnectionListener listener) {
            this.listener = listener;
        }

        @Override
        public SocketAddress localAddress() {
            return listener.localAddress();
        }

        @Override
        public void setAccepting(boolean accepting) {
            listener.setAccepting(accepting);
        }

        @Override
        public void close() {
            listener.close();
            if (complainOfListeners) {
                throw new IllegalStateException("the device complains");
            }
        }
    }

    /** Tells of a connection after its end. */
    private static final class Ended implements QueuePair.Listener {

        private final QueuePair.Listener listener;
        private QueuePair pair;

        Ended(QueuePair.Listener listener) {
            this.listener = listener;
        }

        @Override
        public void established(ConnectionParameters parameters) {
            pair.moveToError();
            listener.established(parameters);
        }

        @Override
        public void connectFailed(IOException cause, ByteBuffer privateData) {
            listener.connectFailed(cause, privateData);
        }

        @Override
        public void disconnected(IOException cause) {
            listener.disconnected(cause);
        }
    }

    private final class Pair implements QueuePair {

        private final Context context;
        private final QueuePair pair;
        private boolean closed;

        Pair(Context context, QueuePair pair) {
            this.context = context;
            this.pair = pair;
        }

        @Override
        public void connect(SocketAddress remote, SocketAddress local, ByteBuffer privateData) throws IOException {
            pair.connect(remote, local, privateData);
        }

        @Override
        public void accept(ByteBuffer privateData) throws IOException {
            failWith(acceptFailure);
            pair.accept(privateData);
        }

        @Override
        public void postReceive(long id, MemoryRegion region, int offset, int length) throws IOException {
            pair.postReceive(id, region, offset, length);
        }

        @Override
        public void postSend(SendWorkRequest request) throws IOException {
            if (refuseNextPost) {
                refuseNextPost = false;
                throw new IOException("the device refuses");
            }
            pair.postSend(request);
        }

        @Override
        public void flush() {
            pair.flush();
        }

        @Override
        public int expose(MemoryRegion region, int offset, int length, int access) throws IOException {
            if (refuseExposures) {
                throw new IOException("the device has no tag left");
            }
            return pair.expose(region, offset, length, access);
        }

        @Override
        public long remoteOffset(int steeringTag) {
            Error error = nextOffsetError;
            if (error != null) {
                nextOffsetError = null;
                throw error;
            }
            return pair.remoteOffset(steeringTag);
        }

        @Override
        public boolean invalidate(long id, int steeringTag) throws IOException {
            Error error = nextInvalidationError;
            if (error != null) {
                nextInvalidationError = null;
                throw error;
            }
            if (refuseInvalidations) {
                throw new IOException("the device does not withdraw exposed memory");
            }
            if (!slowInvalidation) {
                return pair.invalidate(id, steeringTag);
            }
            pair.invalidate(id, steeringTag);
            context.invalidated.add(id);
            return false;
        }

        @Override
        public void allowReceives(long count) {
            pair.allowReceives(count);
        }

        @Override
        public SocketAddress localAddress() {
            return pair.localAddress();
        }

        @Override
        public SocketAddress remoteAddress() {
            return pair.remoteAddress();
        }

        @Override
        public void moveToError() {
            refuseEnd();
            Error error = nextEndError;
            if (error != null) {
                nextEndError = null;
                throw error;
            }
            pair.moveToError();
        }

        @Override
        public void close() {
            if (refuseCloses) {
                throw new IllegalStateException("the device refuses");
            }
            pair.close();
            closed = true;
            refuseEnd();
        }

        @Override
        public boolean mayUsePosted() {
            return keepPosted || pair.mayUsePosted();
        }

        @Override
        public boolean mayUseExposed(int steeringTag) {
            return keepExposed || !closed && !context.closed || pair.mayUseExposed(steeringTag);
        }

        private void refuseEnd() {
            if (refuseEnds) {
                throw new IllegalStateException("the device refuses");
            }
        }
    }
}
