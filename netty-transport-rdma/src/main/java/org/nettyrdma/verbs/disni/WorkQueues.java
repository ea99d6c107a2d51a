package org.nettyrdma.verbs.disni;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.nettyrdma.verbs.QueuePairAttributes;
import org.nettyrdma.verbs.SendWorkRequest;
import org.nettyrdma.verbs.WorkCompletionStatus;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The queues of one queue pair and the memory that it has opened: what its device does. */
final class WorkQueues {

    private static final Logger LOGGER = LoggerFactory.getLogger(WorkQueues.class);

    private static final WorkCompletionStatus[] STATUSES = new WorkCompletionStatus[32];

    static {
        for (int code = 0; code < STATUSES.length; code++) {
            STATUSES[code] = WorkCompletionStatus.of(code);
        }
    }

    /** Entries of the native send queue for each of the user's: one for the window that may be bound before it. */
    static final int ENTRIES_PER_SEND = 2;

    /** Whose queues these are. */
    interface Owner extends IdentifierOwner, Batch.Owner {

        /** From here on completions of these queues need not be found any more. */
        void forget();
    }

    private final DisniLoopParts parts;
    private final Owner owner;
    private final int number;
    private final QueuePairAttributes attributes;
    private final int sendCapacity;
    private final SendRing sends;
    private final ReceiveRing receives;
    private final ExposedPieces exposed;

    private CompletionQueues.Queue completionQueue;
    private long queuePair; // 0 before it is created and after it was destroyed
    private boolean refused;      // the device has not taken all that it was given, and gets nothing more
    private boolean disabled;     // the device uses no memory of what was posted any more
    private boolean notDestroyed; // the device may still use the memory of what was posted

    WorkQueues(DisniLoopParts parts, Owner owner, int number, QueuePairAttributes attributes) {
        this.parts = parts;
        this.owner = owner;
        this.number = number;
        this.attributes = attributes;
        sendCapacity = attributes.sendQueueDepth() * ENTRIES_PER_SEND;
        sends = new SendRing(attributes.sendQueueDepth(), sendCapacity, parts.deliveries());
        receives = new ReceiveRing(attributes.receiveQueueDepth(), parts.deliveries());
        exposed = new ExposedPieces(parts.device(), parts.windows());
    }

    /** Creates the native queue pair on the device that an identifier is bound to. */
    void open(long id) throws IOException {
        Device device = parts.device();
        completionQueue = parts.completionQueues().reserve(entries());
        try {
            parts.verbs().setElementLimits(id, Math.min(device.limits().maxElements(), Batch.MAX_ELEMENTS));
            queuePair = parts.verbs().createQueuePair(id, device.protectionDomain(), completionQueue.handle(), sendCapacity,
                    attributes.receiveQueueDepth(), device.inlineBytes());
            device.add(queuePair, owner);
        } catch (IOException e) {
            abandon(id);
            throw new IOException("the device " + device.limits().name() + " (at " + device.address().getHostAddress()
                    + ") creates no queue pair for this connection; the address may belong to another device: " + e.getMessage(),
                    e);
        } catch (Throwable t) {
            abandon(id);
            throw t;
        }
    }

    /** Takes back what was created by {@link #open}; nothing was posted. */
    private void abandon(long id) {
        if (queuePair != 0) {
            parts.verbs().destroyQueuePair(id);
            queuePair = 0;
        }
        completionQueue.release(entries());
    }

    private int entries() {
        return sendCapacity + attributes.receiveQueueDepth();
    }

    // ---- Posting

    void addReceive(long id, DisniMemoryRegion region, int offset, int length) throws IOException {
        if (!receives.offer(id, region, offset, length)) {
            throw new IOException("the receive queue is full: depth " + attributes.receiveQueueDepth());
        }
    }

    void addSend(SendWorkRequest request) throws IOException {
        DeviceLimits limits = parts.device().limits();
        boolean read = request.opcode() == SendWorkRequest.Opcode.READ;
        if (limits.iwarp() && request.opcode() == SendWorkRequest.Opcode.WRITE_WITH_IMMEDIATE) {
            throw new IOException("iWARP has no RDMA Write with immediate data");
        }
        int maxElements = Math.min(read ? limits.maxReadElements() : limits.maxElements(), Batch.MAX_ELEMENTS);
        if (request.elementCount() > maxElements) {
            throw new IOException(request.elementCount() + " pieces of memory, limit " + maxElements);
        }
        if (!sends.hasRoom()) {
            throw new IOException("the send queue is full: depth " + attributes.sendQueueDepth());
        }
        // A Read of nothing has no memory to register, and its sink's key lets nobody write.
        if (read && request.totalBytes() > 0 && limits.iwarp()
                && parts.device().exposureMode() != MemoryExposureMode.PERSISTENT) {
            addReadIntoOwnRegistration(request);
            return;
        }
        // First what can fail, lest half a request is posted: memory that is closed, or cannot be registered with a device that
        // has come back.
        Registration[] registrations = parts.registrations();
        for (int i = 0; i < request.elementCount(); i++) {
            registrations[i] = ((DisniMemoryRegion) request.region(i)).registration(parts.device());
        }
        parts.batch().prepare(owner); // posts what another queue pair has left
        int slot = read ? sends.addRead(request.workRequestId(), request.totalBytes(), null)
                : sends.add(request.workRequestId(), null);
        if (!refused) {
            start(request, slot);
            for (int i = 0; i < request.elementCount(); i++) {
                parts.batch().addElement(registrations[i], request.offset(i), request.length(i));
            }
        }
    }

    /**
     * On iWARP the key of a Read's sink goes over the wire, and must allow remote writing. The key of the region must never do
     * that, so the sink gets a registration of its own until the Read is complete.
     */
    private void addReadIntoOwnRegistration(SendWorkRequest request) throws IOException {
        ReadSinks sinks = new ReadSinks(parts.device(), request);
        int slot;
        try {
            parts.batch().prepare(owner);
            slot = sends.addRead(request.workRequestId(), request.totalBytes(), sinks);
        } catch (Throwable t) {
            sinks.completed(false);
            throw t;
        }
        if (!refused) {
            start(request, slot);
            for (int i = 0; i < sinks.count(); i++) {
                parts.batch().addElement(sinks.registration(i), 0, sinks.length(i));
            }
        }
    }

    private void start(SendWorkRequest request, int slot) {
        int opcode = switch (request.opcode()) {
            case SEND -> NativeExtensions.OPCODE_SEND;
            case SEND_WITH_INVALIDATE -> NativeExtensions.OPCODE_SEND_WITH_INVALIDATE;
            case WRITE -> NativeExtensions.OPCODE_WRITE;
            case WRITE_WITH_IMMEDIATE -> NativeExtensions.OPCODE_WRITE_WITH_IMMEDIATE;
            case READ -> NativeExtensions.OPCODE_READ;
        };
        int flags = request.solicited() ? NativeExtensions.FLAG_SOLICITED : 0;
        if (opcode == NativeExtensions.OPCODE_READ) {
            flags |= NativeExtensions.FLAG_SIGNALED; // see SendRing
        } else if (request.totalBytes() <= parts.device().inlineBytes()) {
            flags |= NativeExtensions.FLAG_INLINE;
        }
        parts.batch().add(WorkRequestKey.send(number, slot), opcode, flags, request.steeringTag(), request.remoteOffset());
        if (opcode == NativeExtensions.OPCODE_WRITE_WITH_IMMEDIATE) {
            parts.batch().setImmediate(request.immediateData());
        }
    }

    /**
     * Gives the device all that it does not have yet: receives first, since what is sent may be answered at once.
     *
     * @throws IOException if the device refuses a part, now or before; the connection must end, which completes that
     */
    void flush() throws IOException {
        if (queuePair == 0) {
            return;
        }
        requireNotRefused();
        refused = true; // unless all of it is posted
        receives.post(parts.verbs(), parts.device(), queuePair, number, parts.receiveMemory());
        if (parts.batch().belongsTo(owner)) {
            parts.batch().post(queuePair);
        }
        refused = false;
    }

    /** The completion of a later Send would say of those that were refused that they are done. */
    private void requireNotRefused() throws IOException {
        if (refused) {
            throw new IOException("the device has refused work requests of this connection");
        }
    }

    // ---- Completions

    /**
     * Takes up one completion.
     *
     * @param established whether messages can be delivered now
     * @return its status
     */
    WorkCompletionStatus completed(ByteBuffer completions, int index, boolean established) {
        long key = completions.getLong(index + NativeExtensions.COMPLETION_ID);
        int code = completions.getInt(index + NativeExtensions.COMPLETION_STATUS);
        WorkCompletionStatus status = code >= 0 && code < STATUSES.length ? STATUSES[code] : WorkCompletionStatus.UNKNOWN;
        boolean reported = status != WorkCompletionStatus.SUCCESS && status != WorkCompletionStatus.WORK_REQUEST_FLUSHED;
        int vendorError = reported ? completions.getInt(index + NativeExtensions.COMPLETION_VENDOR_ERROR) : 0;
        int slot = WorkRequestKey.slot(key);
        if (WorkRequestKey.isSend(key)) {
            sends.complete(slot, status, vendorError);
        } else {
            if (status == WorkCompletionStatus.SUCCESS) {
                messageArrived(completions, index, slot);
            } else {
                receives.failed(slot, status, vendorError);
            }
            if (established) {
                receives.deliver();
            }
        }
        return status;
    }

    private void messageArrived(ByteBuffer completions, int index, int slot) {
        int byteLength = completions.getInt(index + NativeExtensions.COMPLETION_LENGTH);
        if (completions.getInt(index + NativeExtensions.COMPLETION_OPCODE) == NativeExtensions.COMPLETED_IMMEDIATE) {
            receives.immediateArrived(slot, byteLength,
                    NetworkOrder.swap(completions.getInt(index + NativeExtensions.COMPLETION_IMMEDIATE)));
            return;
        }
        boolean invalidated = (completions.getInt(index
                + NativeExtensions.COMPLETION_FLAGS) & NativeExtensions.WITH_INVALIDATE) != 0;
        int tag = completions.getInt(index + NativeExtensions.COMPLETION_INVALIDATED_KEY);
        if (invalidated) {
            withdrawn(exposed.remove(tag));
        }
        receives.arrived(slot, byteLength, invalidated, tag);
    }

    /** The connection was reported: messages can be delivered. */
    void established() {
        receives.deliver();
    }

    /** Whether the device has something to do for the send side. */
    boolean hasSends() {
        return !sends.isEmpty();
    }

    /** Completes something that was posted after the end. */
    void flushed(long id) {
        parts.deliveries().complete(id, WorkCompletionStatus.WORK_REQUEST_FLUSHED, 0, 0);
    }

    // ---- Exposed memory

    int expose(DisniMemoryRegion region, int offset, int length, int rights, boolean established) throws IOException {
        return switch (parts.device().exposureMode()) {
            case PERSISTENT -> exposed.persistent(region, offset, parts.device());
            case REGISTRATION -> register(region, offset, length, rights);
            // Without a connection no window can be bound, nor with a full queue.
            case WINDOW -> established && sends.hasInternalRoom() ? bind(region, offset, length, rights)
                    : register(region, offset, length, rights);
        };
    }

    private int register(DisniMemoryRegion region, int offset, int length, int rights) throws IOException {
        boolean writes = (rights & NativeExtensions.ACCESS_REMOTE_WRITE) != 0;
        return exposed.register(region, offset, length, rights | (writes ? NativeExtensions.ACCESS_LOCAL_WRITE : 0));
    }

    private int bind(DisniMemoryRegion region, int offset, int length, int rights) throws IOException {
        Registration registration = region.registration(parts.device());
        owner.flush(); // posting gives the new key, so the bind cannot wait for others
        requireNotRefused();
        Batch batch = parts.batch();
        batch.prepare(owner);
        long window = parts.windows().take();
        int slot = sends.addInternal();
        batch.add(WorkRequestKey.send(number, slot), NativeExtensions.OPCODE_BIND, 0, 0, window);
        batch.addElement(registration, offset, length);
        batch.setAccess(rights);
        try {
            batch.post(queuePair);
        } catch (Throwable t) {
            sends.removeLast();
            parts.windows().give(window);
            throw t;
        }
        int tag = batch.boundKey();
        exposed.bound(tag, registration.address() + offset, window);
        return tag;
    }

    ExposedPieces.Piece exposed(int tag) {
        return exposed.find(tag);
    }

    /** Withdraws a tag; {@code false} if a completion with this id will tell that it is done. */
    boolean invalidate(long id, int tag) throws IOException {
        ExposedPieces.Piece piece = exposed.find(tag);
        if (piece == null) {
            return true;
        }
        if (piece.window() == 0 || queuePair == 0) {
            if (!withdrawn(piece)) {
                throw new IOException("the device does not withdraw exposed memory");
            }
            exposed.remove(tag);
            return true;
        }
        if (!sends.hasRoom()) {
            throw new IOException("the send queue is full: depth " + attributes.sendQueueDepth());
        }
        parts.batch().prepare(owner);
        exposed.startWithdrawing(tag);
        int slot = sends.add(id, success -> {
            exposed.withdrawn(tag, success);
            return true;
        });
        if (!refused) {
            parts.batch().add(WorkRequestKey.send(number, slot), NativeExtensions.OPCODE_LOCAL_INVALIDATE, 0, tag, 0);
        }
        return false;
    }

    /** The peer has no access through a piece any more, unless this returns {@code false}. */
    private boolean withdrawn(ExposedPieces.Piece piece) {
        if (piece == null) {
            return true;
        }
        if (piece.window() != 0) {
            parts.windows().give(piece.window());
        }
        return piece.registration() == null || parts.device().deregister(piece.registration());
    }

    // ---- The end

    /** Takes up what has completed, so that nothing that arrived before the end is lost. */
    void drain() {
        if (queuePair != 0) {
            try {
                parts.completionQueues().drain(completionQueue);
            } catch (IOException e) {
                LOGGER.debug("The completion queue cannot be polled", e); // the device has gone
            }
        }
    }

    /**
     * Ends the device's part without destroying the native queue pair, for which {@link #destroyNative} must be called later:
     * from here on the device touches no memory for this connection.
     *
     * @return {@code false} if that cannot be done
     */
    boolean disable() {
        if (queuePair == 0 || !parts.verbs().moveToError(queuePair)) {
            return false;
        }
        disabled = true;
        drain();
        forget();
        return true;
    }

    /** Destroys the native queue pair: from here on the device touches no memory for this connection. */
    void destroy(long id) {
        forget();
        destroyNative(id);
    }

    /** From here on completions are dropped. */
    private void forget() {
        owner.forget();
        if (parts.batch().belongsTo(owner)) {
            parts.batch().clear();
        }
    }

    void destroyNative(long id) {
        if (queuePair != 0) {
            exposed.freeWindows();
            parts.device().remove(queuePair);
            if (parts.verbs().destroyQueuePair(id) || parts.device().isRemoved()) {
                drain(); // completions of the destroyed queue pair must not take up room that others reserve
                completionQueue.release(entries());
            } else {
                LOGGER.error("The device has not destroyed a queue pair: the memory of its work requests is given up");
                notDestroyed = true;
            }
            queuePair = 0;
        }
    }

    /** Completes everything that is left; but nothing whose memory the device may still use, so that nobody uses that again. */
    void flushAll() {
        if (!notDestroyed) {
            receives.flush();
            sends.flush();
        }
        exposed.close(!notDestroyed);
    }

    /** Whether the device may use memory of what was posted and is not completed, also after {@link #flushAll}. */
    boolean mayUsePosted() {
        return notDestroyed || sends.isStuck() || queuePair != 0 && !disabled;
    }

    /** Whether the peer may still reach what was exposed under a tag, also after {@link #flushAll}. */
    boolean mayUseExposed(int tag) {
        return exposed.isOpen(tag);
    }

    /** Whether the device has not let go of the memory of something that is done. */
    boolean isStuck() {
        return sends.isStuck();
    }
}
