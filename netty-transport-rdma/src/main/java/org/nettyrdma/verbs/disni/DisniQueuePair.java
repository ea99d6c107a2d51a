package org.nettyrdma.verbs.disni;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.Objects;
import org.nettyrdma.verbs.ConnectionParameters;
import org.nettyrdma.verbs.MemoryRegion;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.QueuePairAttributes;
import org.nettyrdma.verbs.SendWorkRequest;
import org.nettyrdma.verbs.WorkCompletionStatus;
import org.nettyrdma.verbs.support.SteeringTag;
import org.nettyrdma.verbs.support.TimerQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection and its life. What is with the device is the business of {@link WorkQueues}.
 * <pre>{@code
 *         connect()                     resolved              resolved            ESTABLISHED
 * CREATED ---------> RESOLVING_ADDRESS ---------> RESOLVING_ROUTE ---> CONNECTING ------------> ESTABLISHED
 *         --------------------------------------------------------> ACCEPTING ----------------^   |  |
 *           accept()                                                    |                     |  |  |
 *                                               iWARP: ESTABLISHED      v                     |  |  |
 *                                                                   SILENT -------------------^  |  |
 *                                                       the peer has sent something, or a pause  |  |
 *                                                                                     a failure  |  |
 *                                                                                          BREAKING |
 *   every state before CLOSED: end() ---> ENDED ---> CLOSED: close()              DISCONNECTED |  |
 *                                         ^-----------------------------------------------------
 * }</pre>
 * In SILENT an iWARP responder waits for the initiator's first FPDU, before which it must not send (RFC 5044, section 7.1.2).
 * Not every device sees to that: with the kernel's siw an attempt fails whose initiator gets a message before it has read the
 * answer. But an initiator that waits for a message itself never sends one first, so the silence ends after a while.
 *
 * The end is the same for every reason: what has completed is taken up, the native queue pair is destroyed, which ends all access
 * of the device, and what is left is completed as flushed. So nothing waits for a device that has gone. In BREAKING the device
 * has reported a failure, and the event that tells the end of the connection is awaited, for a limited time.
 */
final class DisniQueuePair implements QueuePair, WorkQueues.Owner {

    private static final Logger LOGGER = LoggerFactory.getLogger(DisniQueuePair.class);

    /** How long resolving an address or a route may take. Connecting has a limit in the transport. */
    private static final int RESOLVE_TIMEOUT_MILLIS = 5000;
    /** More than a device takes to find out that nobody answers; siw takes 10 seconds. */
    private static final int ATTEMPT_TIMEOUT_MILLIS = 30_000;

    /** More than a busy peer takes to read the answer to its request. */
    private static final int SILENCE_MILLIS = 40;

    /** How long to wait for an event that must have happened before. */
    private static final int EVENT_TIMEOUT_MILLIS = 500;

    private static final ByteBuffer NO_DATA = ByteBuffer.allocate(0).asReadOnlyBuffer();

    private enum State {
        CREATED, RESOLVING_ADDRESS, RESOLVING_ROUTE, CONNECTING, ACCEPTING, SILENT, ESTABLISHED, BREAKING, ENDED, CLOSED
    }

    private final DisniContext context;
    private final DisniLoopParts parts;
    private final QueuePairAttributes attributes;
    private final Listener listener;
    private final int number;
    private final WorkQueues queues;
    /** What this side answers, or {@code null} if it asks. */
    private final DisniConnectionRequest request;

    private State state = State.CREATED;
    private long id;
    private byte[] privateData;
    private int inboundReadDepth;
    private int outboundReadDepth;
    private IOException failure;
    private boolean brokenEarly;
    private boolean heardEarly; // the peer's first message was faster than ESTABLISHED
    private boolean faulty; // a completion was lost
    private TimerQueue.Timer timer;
    /** What the listener has not been told of the end. */
    private Runnable untold;
    private SocketAddress localAddress;
    private SocketAddress remoteAddress;

    DisniQueuePair(DisniContext context, QueuePairAttributes attributes, Listener listener, DisniConnectionRequest request) {
        this.context = context;
        this.attributes = attributes;
        this.listener = listener;
        this.request = request;
        parts = context.parts();
        int limit = parts.device().limits().maxReadDepth();
        inboundReadDepth = Math.min(attributes.inboundReadDepth(), limit);
        outboundReadDepth = Math.min(attributes.outboundReadDepth(), limit);
        number = context.add(this);
        try {
            queues = new WorkQueues(parts, this, number, attributes);
        } catch (Throwable t) {
            forget();
            throw t;
        }
    }

    @Override
    public void forget() {
        context.remove(number);
    }

    // ---- Connection setup

    @Override
    public void connect(SocketAddress remote, SocketAddress local, ByteBuffer data) throws IOException {
        if (state != State.CREATED || request != null) {
            throw new IllegalStateException("connect in state " + state);
        }
        if (remote instanceof InetSocketAddress address && address.isUnresolved()) {
            throw new UnknownHostException(address.getHostString());
        }
        privateData = checkPrivateData(data, parts.device().limits());
        id = parts.device().connectionManager().create(this);
        try {
            parts.verbs().resolveAddress(id, local, remote, RESOLVE_TIMEOUT_MILLIS);
        } catch (Throwable t) {
            destroyId();
            throw t;
        }
        remoteAddress = remote;
        state = State.RESOLVING_ADDRESS;
    }

    /** Makes the native queue pair for the request that this side will answer. */
    void takeUpRequest() throws IOException {
        id = request.id();
        localAddress = request.localAddress();
        remoteAddress = request.remoteAddress();
        try {
            request.handOver(this);
            queues.open(id);
        } catch (Throwable t) {
            forget();
            id = 0; // the caller destroys it, and an event may still be under way to this
            state = State.CLOSED;
            throw t;
        }
    }

    @Override
    public void accept(ByteBuffer data) throws IOException {
        if (state != State.CREATED || request == null) {
            throw new IllegalStateException("accept in state " + state);
        }
        byte[] answer = checkPrivateData(data, parts.device().limits());
        inboundReadDepth = Math.min(inboundReadDepth, request.request().inboundReadDepth());
        outboundReadDepth = Math.min(outboundReadDepth, request.request().outboundReadDepth());
        queues.flush(); // the receives come before the connection
        parts.verbs().accept(id, answer, inboundReadDepth, outboundReadDepth);
        state = State.ACCEPTING;
    }

    /** Copies private data after checking its length. */
    static byte[] checkPrivateData(ByteBuffer data, DeviceLimits limits) {
        if (data.remaining() > limits.maxPrivateDataBytes()) {
            throw new IllegalArgumentException("privateData: " + data.remaining() + " bytes (expected: at most "
                    + limits.maxPrivateDataBytes() + ')');
        }
        byte[] bytes = new byte[data.remaining()];
        data.duplicate().get(bytes);
        return bytes;
    }

    // ---- What the connection manager reports

    @Override
    public DisniContext context() {
        return context;
    }

    @Override
    public void connectionEvent(ConnectionEvent event) {
        try {
            switch (event.type()) {
                case ADDRESS_RESOLVED -> addressResolved();
                case ROUTE_RESOLVED -> routeResolved();
                case ESTABLISHED -> established(event);
                case DISCONNECTED -> disconnected();
                case REJECTED -> end(new ConnectException("the peer rejected the connection: " + event.describe()),
                        event.privateData());
                case ADDRESS_ERROR, ROUTE_ERROR, CONNECT_ERROR, UNREACHABLE ->
                        end(new ConnectException("no connection: " + event.describe()), NO_DATA);
                case CONNECT_RESPONSE, CONNECT_REQUEST ->
                        end(new IOException("unexpected event of the connection manager: " + event.describe()), NO_DATA);
                case DEVICE_REMOVAL -> end(new IOException(parts.device().removal()), NO_DATA);
                case DEVICE_FAULT -> broken(new IOException(
                        "the device has ended the connection: it refused what the peer asked for, or has a fault "
                                + "(asynchronous event " + event.status() + ')'));
                case ADDRESS_CHANGE, TIME_WAIT_EXIT, MULTICAST_JOIN, MULTICAST_ERROR, UNKNOWN ->
                        LOGGER.debug("{} in state {}", event.describe(), state); // none of them changes anything for a connection
            }
        } catch (IOException | RuntimeException e) {
            end(e instanceof IOException failed ? failed : new IOException(e), NO_DATA);
        } catch (Error e) {
            end(new IOException(e.toString(), e), NO_DATA); // before the loop hears of it: nothing of this connection stays open
            throw e;
        }
    }

    private void addressResolved() throws IOException {
        if (state == State.RESOLVING_ADDRESS) {
            queues.open(id); // now the device is known
            queues.flush();
            parts.verbs().resolveRoute(id, RESOLVE_TIMEOUT_MILLIS);
            state = State.RESOLVING_ROUTE;
        }
    }

    private void routeResolved() throws IOException {
        if (state == State.RESOLVING_ROUTE) {
            try {
                parts.verbs().connect(id, privateData, inboundReadDepth, outboundReadDepth);
            } catch (IOException e) { // some devices know at once
                throw (ConnectException) new ConnectException(e.getMessage()).initCause(e);
            }
            state = State.CONNECTING;
        }
    }

    private void established(ConnectionEvent event) throws IOException {
        if (state != State.CONNECTING && state != State.ACCEPTING) {
            return; // ended in the meantime
        }
        localAddress = parts.verbs().localAddress(id);
        if (state == State.CONNECTING) {
            outboundReadDepth = Math.min(outboundReadDepth, event.outboundReadDepth());
            stands(event.privateData());
        } else if (parts.device().limits().iwarp() && !heardEarly) {
            state = State.SILENT;
            timer = parts.timers().schedule(SILENCE_MILLIS, this::endSilence);
        } else {
            stands(request.privateData());
        }
    }

    private void endSilence() {
        if (state == State.SILENT) {
            timer.cancel();
            stands(request.privateData());
        }
    }

    private void stands(ByteBuffer peerData) {
        state = State.ESTABLISHED;
        ConnectionParameters parameters = new ConnectionParameters(peerData, inboundReadDepth, outboundReadDepth, false, 0);
        deliver(() -> listener.established(parameters));
        queues.established(); // messages that were faster than the event
        if (brokenEarly) {
            broken(null); // so was the peer, which has gone again
        }
    }

    private void disconnected() {
        switch (state) {
            case SILENT, ESTABLISHED, BREAKING -> {
                queues.drain();
                end(failure != null ? failure : causeOfEnd(), NO_DATA);
            }
            case CREATED, RESOLVING_ADDRESS, RESOLVING_ROUTE, CONNECTING, ACCEPTING ->
                    end(new ConnectException("the peer has gone before the connection stood"), NO_DATA);
            case ENDED, CLOSED -> { } // known
        }
    }

    /** {@code null} if the peer has closed the connection in order. */
    private IOException causeOfEnd() {
        if (parts.device().isRemoved()) {
            return new IOException(parts.device().removal()); // the peer is on the same device, and has heard of it earlier
        }
        return queues.hasSends() ? unfinished() : null;
    }

    // ---- Work

    @Override
    public void postReceive(long workRequestId, MemoryRegion region, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, region.memory().capacity());
        checkNotClosed();
        if (state == State.ENDED) {
            queues.flushed(workRequestId);
        } else {
            queues.addReceive(workRequestId, (DisniMemoryRegion) region, offset, length);
        }
    }

    @Override
    public void postSend(SendWorkRequest workRequest) throws IOException {
        checkNotClosed();
        switch (state) {
            case ESTABLISHED, BREAKING -> {
                if (workRequest.opcode() == SendWorkRequest.Opcode.READ && outboundReadDepth == 0) {
                    throw new IOException("no RDMA Read can be sent: the outbound read depth is 0");
                }
                queues.addSend(workRequest);
            }
            case ENDED -> queues.flushed(workRequest.workRequestId());
            case CREATED, RESOLVING_ADDRESS, RESOLVING_ROUTE, CONNECTING, ACCEPTING, SILENT, CLOSED ->
                    throw new IOException("nothing can be sent before the connection stands");
        }
    }

    @Override
    public void flush() {
        try {
            queues.flush();
        } catch (IOException e) {
            LOGGER.debug("Posting to {} failed", remoteAddress, e);
            broken(e);
        } catch (Throwable t) {
            broken(new IOException(t.toString(), t));
            throw t;
        }
    }

    /** One completion of this queue pair, see {@link NativeExtensions}. Where that fails, nothing more is taken up. */
    void completed(ByteBuffer completions, int index) {
        if (faulty) {
            return; // what has arrived since would be delivered with a gap
        }
        try {
            takeUp(completions, index);
        } catch (Throwable t) {
            faulty = true;
            // Not from here: the end takes up completions, too.
            parts.timers().schedule(0, () -> end(new IOException(t.toString(), t), NO_DATA));
            throw t;
        }
    }

    private void takeUp(ByteBuffer completions, int index) {
        WorkCompletionStatus status = queues.completed(completions, index, state == State.ESTABLISHED || state == State.BREAKING);
        heardEarly |= state == State.ACCEPTING;
        endSilence();
        if (status == WorkCompletionStatus.WORK_REQUEST_FLUSHED) {
            broken(WorkRequestKey.isSend(completions.getLong(index)) ? unfinished() : causeOfFlushedReceive());
        } else if (status != WorkCompletionStatus.SUCCESS) {
            broken(new IOException("a work request failed: " + status));
        } else if (queues.isStuck()) {
            broken(new IOException("the device does not let go of the memory that an RDMA Read went to"));
        }
    }

    /**
     * On InfiniBand only this side moves its queue pair to the error state when a peer closes in order, so the device must have
     * found a fault. An iWARP device does it in every case.
     */
    private IOException causeOfFlushedReceive() {
        return parts.device().limits().iwarp() ? null : new IOException(
                "the device has ended the connection: it refused what the peer asked for, or has a fault");
    }

    private static IOException unfinished() {
        return new IOException("the connection ended before all Sends, RDMA Writes and RDMA Reads of this side were done");
    }

    /** The device works no more for this connection. Why, may still have to come. */
    private void broken(IOException cause) {
        if (state == State.BREAKING && failure == null) {
            failure = cause;
        }
        if (state != State.ESTABLISHED) {
            brokenEarly |= state == State.RESOLVING_ROUTE || state == State.CONNECTING || state == State.ACCEPTING
                    || state == State.SILENT;
            return;
        }
        state = State.BREAKING;
        failure = cause;
        // An InfiniBand peer knows nothing of the state of this side: it is told, and so is this side, by DISCONNECTED.
        boolean told = parts.verbs().disconnect(id);
        // Nobody can be told when the device is leaving, for instance; the event that says so may still have to be read.
        int waitMillis = told ? attributes.closeTimeoutMillis() : Math.min(attributes.closeTimeoutMillis(), EVENT_TIMEOUT_MILLIS);
        timer = parts.timers().schedule(waitMillis, () -> end(failure != null ? failure
                : new IOException("the connection is broken, and the device does not tell why"), NO_DATA));
    }

    // ---- Remote memory

    @Override
    public int expose(MemoryRegion region, int offset, int length, int access) throws IOException {
        SteeringTag.check(region, offset, length, access);
        if (state == State.ENDED || state == State.CLOSED) {
            throw new IOException("the connection has ended");
        }
        int rights = ((access & ACCESS_REMOTE_READ) != 0 ? NativeExtensions.ACCESS_REMOTE_READ : 0)
                | ((access & ACCESS_REMOTE_WRITE) != 0 ? NativeExtensions.ACCESS_REMOTE_WRITE : 0);
        return queues.expose((DisniMemoryRegion) region, offset, length, rights, state == State.ESTABLISHED);
    }

    @Override
    public long remoteOffset(int steeringTag) {
        ExposedPieces.Piece piece = queues.exposed(steeringTag);
        if (piece == null) {
            throw new IllegalArgumentException(String.format("steeringTag: 0x%08x (expected: a valid one)", steeringTag));
        }
        return piece.remoteOffset();
    }

    @Override
    public boolean invalidate(long workRequestId, int steeringTag) throws IOException {
        return queues.invalidate(workRequestId, steeringTag);
    }

    @Override
    public String awaited() {
        return switch (state) {
            case RESOLVING_ADDRESS -> "the device has not resolved the address";
            case RESOLVING_ROUTE -> "the device has found no route";
            case CONNECTING -> "the peer has not answered the request: the server accepts no connections, or is no RDMA listener";
            case CREATED, ACCEPTING, SILENT, ESTABLISHED, BREAKING, ENDED, CLOSED -> null;
        };
    }

    @Override
    public SocketAddress localAddress() {
        return localAddress;
    }

    @Override
    public SocketAddress remoteAddress() {
        return remoteAddress;
    }

    // ---- The end

    @Override
    public void moveToError() {
        switch (state) {
            case SILENT, ESTABLISHED -> {
                flush();
                end(failure, NO_DATA);
            }
            case BREAKING -> end(failure, NO_DATA);
            case CREATED, RESOLVING_ADDRESS, RESOLVING_ROUTE, CONNECTING, ACCEPTING ->
                    end(new IOException("closed by this side before the connection stood"), NO_DATA);
            case ENDED -> completeAll(); // for which there was no memory at the end, for instance
            case CLOSED -> { }
        }
    }

    /** Ends the connection and completes everything. The listener hears of it in the order of events. */
    private void end(IOException cause, ByteBuffer peerData) {
        if (state == State.ENDED || state == State.CLOSED) {
            return;
        }
        endSilence(); // the device has reported the connection
        boolean wasEstablished = state == State.ESTABLISHED || state == State.BREAKING;
        if (wasEstablished) {
            parts.verbs().disconnect(id); // if it was told before, this changes nothing
            state = State.BREAKING;
            failure = cause;
        }
        queues.drain();
        boolean attempted = state == State.CONNECTING && parts.device().limits().iwarp() && queues.disable();
        if (!attempted) {
            queues.destroy(id);
        }
        untold = wasEstablished ? () -> listener.disconnected(cause) : () -> listener.connectFailed(cause, peerData);
        state = State.ENDED;
        if (timer != null) {
            timer.cancel();
        }
        try {
            completeAll();
        } finally { // also after an Error
            if (wasEstablished) {
                context.closeLater(id, null, attributes.closeTimeoutMillis());
                id = 0;
            } else if (attempted) {
                context.closeLater(id, queues, ATTEMPT_TIMEOUT_MILLIS);
                id = 0;
            } else {
                destroyId();
            }
        }
    }

    /** Tells the end and completes everything. Does what is left of that when it is called again. */
    private void completeAll() {
        try {
            if (untold != null) {
                deliver(untold);
                untold = null;
            }
        } finally {
            queues.flushAll();
        }
    }

    private void destroyId() {
        if (id != 0) {
            queues.destroyNative(id);
            parts.device().connectionManager().destroy(id);
            id = 0;
        }
    }

    @Override
    public void close() {
        try {
            moveToError();
        } finally {
            state = State.CLOSED;
            destroyId(); // which for want of memory nobody has taken over
        }
    }

    @Override
    public boolean mayUsePosted() {
        return queues.mayUsePosted();
    }

    @Override
    public boolean mayUseExposed(int steeringTag) {
        return queues.mayUseExposed(steeringTag);
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
