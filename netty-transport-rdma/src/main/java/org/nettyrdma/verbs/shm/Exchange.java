package org.nettyrdma.verbs.shm;

import java.io.IOException;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import org.nettyrdma.verbs.WorkCompletionStatus;
import org.nettyrdma.verbs.support.SendSlot;
import org.nettyrdma.verbs.support.SteeringTag;
import org.nettyrdma.verbs.support.SteeringTagTable;

/**
 * A connection that stands: carries out what the peer's ring asks for, and hands this side's work requests to the peer. The side
 * that ends up with bytes copies them: those of a Send or an RDMA Write the side that gets it, those of an RDMA Read the side
 * that has asked for them, when the other has granted it.
 *
 * <p>What was copied is believed only when the peer is known not to have ended the connection before: afterwards it uses its
 * memory for something else.
 */
final class Exchange {

    /** So many messages are taken in a turn at most, so that other connections get theirs. */
    static final int MAX_MESSAGES_PER_TURN = 32;
    /** So many copied bytes end a turn: what has come is passed on, and answered while the next are copied. */
    static final int MAX_BYTES_PER_TURN = 128 * 1024;
    /** What it takes to map a block for the first message from it, in bytes that could be copied meanwhile. */
    static final int BYTES_PER_MAPPING = 32 * 1024;

    private final ReceiveSource receives;
    private final SendQueue sends;
    private final GrantQueue grants;
    private final SteeringTagTable steeringTags;
    private final OwnControl own;
    private final PeerControl peer;
    private final PeerBlocks blocks;
    private final Runnable doorbell;
    private final int agreedReadDepth;

    private boolean blocked;
    /** The last turn has ended with messages left to take. */
    private boolean moreToTake;
    private boolean wakeUpDue;
    private int lastWoken;
    private boolean settled;
    private boolean closing;
    /** Once seen it counts, whatever the peer writes later: what the turn has taken is then flushed and never goes on. */
    private boolean peerEnded;

    /**
     * @param doorbell        wakes a peer that sleeps; that it cannot be woken is found out where its end is noticed
     * @param agreedReadDepth RDMA Reads that the peer lets be outstanding
     */
    Exchange(WorkQueues queues, OwnControl own, PeerControl peer, PeerBlocks blocks, Runnable doorbell, int agreedReadDepth) {
        receives = queues.receives();
        sends = queues.sends();
        grants = queues.grants();
        steeringTags = queues.steeringTags();
        this.own = own;
        this.peer = peer;
        this.blocks = blocks;
        this.doorbell = doorbell;
        this.agreedReadDepth = agreedReadDepth;
    }

    /**
     * Does what there is to do.
     *
     * @return how much that was
     * @throws ShmProtocolException if the peer has broken the rules
     * @throws IOException if a message cannot be taken for another reason
     */
    int progress() throws IOException {
        settled = false;
        if (wakeUpDue) {
            ring();
        }
        int work = takeConsumption();
        int taken = takeMessages();
        if (work + taken > 0) {
            publish();
        }
        return work + taken;
    }

    /**
     * Does what the peer, whose process has ended, has left to be done. That is no more than its ring holds: it may be alive.
     *
     * @throws IOException as {@link #progress} does
     */
    void finishProgress() throws IOException {
        long limit = peer.nextEntry() + ControlLayout.RING_ENTRIES;
        while (progress() > 0 && !peerEnded && peer.nextEntry() < limit) {
            continue;
        }
    }

    private int takeConsumption() throws ShmProtocolException {
        if (!sends.hasOutstanding() && !grants.hasOutstanding() || !peer.hasConsumedMore()) {
            return 0;
        }
        long consumed = peer.readConsumed(own.nextEntry());
        grants.complete(consumed);
        sends.complete(consumed);
        return 1;
    }

    private int takeMessages() throws IOException {
        int taken = 0;
        long copiedBytes = 0;
        long mappedBefore = blocks.mappings();
        IOException failure = null;
        try {
            while (taken < MAX_MESSAGES_PER_TURN && !isBlocked() && peer.hasNext()
                    && copiedBytes + BYTES_PER_MAPPING * (blocks.mappings() - mappedBefore) < MAX_BYTES_PER_TURN) {
                peer.readNext();
                blocked = !take();
                if (!blocked) {
                    peer.advance();
                    taken++;
                    copiedBytes += peer.operation() == Operation.READ ? 0 : peer.totalBytes();
                }
            }
        } catch (IOException e) {
            failure = e; // what came before it counts
        }
        moreToTake = taken > 0 && failure == null && !isBlocked() && peer.hasNext();
        if (taken > 0 || failure != null) {
            boolean ended = hasPeerEnded();
            own.rehearseConsumed();
            MappedFiles.settle();
            if (ended) {
                return 0; // what was copied may be anything; the caller flushes it, as it sees the same
            }
            settled = true;
            receives.completeFilled();
            sends.complete(peer.consumed()); // Reads that have their bytes now
            own.setConsumed(peer.nextEntry());
            wakeUpDue = true;
        }
        if (failure != null) {
            failLongMessage(failure);
            throw failure;
        }
        return taken;
    }

    private boolean isBlocked() {
        return blocked && !receives.mayTake();
    }

    private void failLongMessage(IOException failure) {
        if (failure instanceof ShmProtocolException violation && violation.reason() == EndReason.MESSAGE_TOO_LONG) {
            receives.failTaken(WorkCompletionStatus.LOCAL_LENGTH_ERROR, peer.totalBytes());
        }
    }

    /** Takes the message that was read; {@code false} if it has to wait for a receive. */
    private boolean take() throws IOException {
        switch (peer.operation()) {
            case SEND, SEND_WITH_INVALIDATE -> {
                return takeSend();
            }
            case WRITE -> takeWrite();
            case READ -> takeRead();
            case GRANT -> takeGrant();
        }
        return true;
    }

    private boolean takeSend() throws IOException {
        if (!receives.take()) {
            return false;
        }
        int totalBytes = peer.totalBytes();
        if (totalBytes > receives.length()) {
            throw new ShmProtocolException(EndReason.MESSAGE_TOO_LONG, "a Send of %d bytes for a receive buffer of %d",
                    totalBytes, receives.length());
        }
        copyTo(receives.memory(), receives.offset());
        boolean invalidates = peer.operation() == Operation.SEND_WITH_INVALIDATE;
        if (invalidates) {
            withdraw(peer.steeringTag());
        }
        receives.fillTaken(totalBytes, invalidates, invalidates ? peer.steeringTag() : 0);
        return true;
    }

    private void withdraw(int value) throws ShmProtocolException {
        SteeringTag tag = steeringTags.find(value);
        if (tag == null) {
            throw new ShmProtocolException(EndReason.TAG_NOT_INVALIDATED,
                    "Send withdraws steering tag 0x%08x, which is not valid", value);
        }
        // The user takes the message as the sign that its memory is its own again, so nothing may be reading it.
        if (tag.isBeingRead()) {
            takeReadsConsumed();
        }
        if (tag.isBeingRead()) {
            throw new ShmProtocolException(EndReason.TAG_NOT_INVALIDATED,
                    "Send withdraws %s while an RDMA Read of it is outstanding", tag);
        }
        steeringTags.remove(value);
    }

    private void takeWrite() throws IOException {
        // An empty RDMA Write touches nothing, so its steering tag is not looked at (RFC 5040, section 5.1).
        if (peer.totalBytes() > 0) {
            SteeringTag tag = find(peer.steeringTag());
            if (!tag.allowsWrite()) {
                throw new ShmProtocolException(EndReason.ACCESS_RIGHTS, "RDMA Write to %s", tag);
            }
            checkBounds(tag);
            copyTo(tag.region().memory(), tag.regionOffset(peer.taggedOffset()));
        }
    }

    private void takeRead() throws ShmProtocolException {
        if (grants.isFull()) {
            takeReadsConsumed();
        }
        if (grants.isFull()) {
            throw new ShmProtocolException(EndReason.TOO_MANY_READS, "more than %d RDMA Reads outstanding", grants.depth());
        }
        SteeringTag tag = null;
        if (peer.totalBytes() > 0) {
            tag = find(peer.steeringTag());
            if (!tag.allowsRead()) {
                throw new ShmProtocolException(EndReason.ACCESS_RIGHTS, "RDMA Read of %s", tag);
            }
            checkBounds(tag);
        }
        grants.add(tag, peer.taggedOffset(), peer.totalBytes());
    }

    /** The peer tells what it has consumed before it asks for more, perhaps since this turn began. */
    private void takeReadsConsumed() throws ShmProtocolException {
        grants.complete(peer.readConsumed(own.nextEntry()));
    }

    private SteeringTag find(int value) throws ShmProtocolException {
        SteeringTag tag = steeringTags.find(value);
        if (tag == null) {
            throw new ShmProtocolException(EndReason.INVALID_STEERING_TAG, "%s with steering tag 0x%08x", peer.operation(),
                    value);
        }
        return tag;
    }

    private void checkBounds(SteeringTag tag) throws ShmProtocolException {
        if (SteeringTag.wraps(peer.taggedOffset(), peer.totalBytes()) || !tag.contains(peer.taggedOffset(), peer.totalBytes())) {
            throw new ShmProtocolException(EndReason.OUT_OF_BOUNDS, "%s of %d bytes at tagged offset 0x%x of %s",
                    peer.operation(), peer.totalBytes(), peer.taggedOffset(), tag);
        }
    }

    private void takeGrant() throws IOException {
        SendSlot read = sends.oldestRead();
        if (read == null || read.totalBytes() != peer.totalBytes()) {
            throw new ShmProtocolException(EndReason.BAD_GRANT, "grant of %d bytes, expected %s", peer.totalBytes(),
                    read == null ? "is none" : "are " + read.totalBytes());
        }
        int piece = 0;
        int used = 0;
        for (int i = 0; i < peer.pieceCount(); i++) {
            ByteBuffer source = source(i);
            for (int copied = 0; copied < peer.length(i); ) {
                while (used == read.length(piece)) {
                    piece++;
                    used = 0;
                }
                int bytes = Math.min(peer.length(i) - copied, read.length(piece) - used);
                read.region(piece).memory().put(read.offset(piece) + used, source, peer.offset(i) + copied, bytes);
                copied += bytes;
                used += bytes;
            }
        }
        sends.readAnswered();
    }

    /** Copies the pieces of the message to a place that has room for them. */
    private void copyTo(ByteBuffer target, int offset) throws IOException {
        int at = offset;
        for (int i = 0; i < peer.pieceCount(); i++) {
            target.put(at, source(i), peer.offset(i), peer.length(i));
            at += peer.length(i);
        }
    }

    /** The memory of the peer that a piece lies in. */
    private ByteBuffer source(int piece) throws IOException {
        ByteBuffer block = blocks.find(peer.block(piece));
        if (peer.length(piece) > block.capacity() - peer.offset(piece)) {
            throw new ShmProtocolException(EndReason.INVALID_BLOCK, "offset %d and length %d in block %d of %d bytes",
                    peer.offset(piece), peer.length(piece), peer.block(piece), block.capacity());
        }
        return block;
    }

    /** Hands to the peer what waits, as far as there is room. Returns whether this has looked at the peer's memory. */
    boolean publish() {
        if (!sends.hasWaiting() && !grants.hasWaiting()) {
            return false;
        }
        long limit = peer.consumed() + ControlLayout.RING_ENTRIES;
        boolean granted = grants.publish(own, limit);
        if (!sends.publish(own, limit, agreedReadDepth) && !granted) {
            return false;
        }
        ring();
        return true;
    }

    /**
     * Wakes the peer if it sleeps: once for each time that it fell asleep. Not before all is taken that it left, which a ring
     * holds: where both share a processor, it would take that from this side for an answer or two.
     */
    private void ring() {
        settled = false; // what was published may have found this side's own file truncated
        wakeUpDue = moreToTake;
        if (moreToTake) {
            return;
        }
        VarHandle.fullFence(); // what it is woken for must be visible before it is seen to sleep
        int asleep = peer.asleep();
        if ((asleep & 1) != 0 && asleep != lastWoken) {
            lastWoken = asleep;
            doorbell.run();
        }
    }

    /** Tells the peer to wake this side from now on, unless there is something to do; {@code true} if so. */
    boolean fallAsleep() {
        if (wakeUpDue) {
            ring();
        }
        if (hasWork()) {
            return false;
        }
        own.fallAsleep();
        if (hasWork()) {
            own.awake();
            return false;
        }
        return true;
    }

    /** Polls again. */
    void awake() {
        own.awake();
    }

    boolean hasWork() {
        return hasPeerEnded() || !closing && !isBlocked() && peer.hasNext()
                || (sends.hasOutstanding() || grants.hasOutstanding()) && peer.hasConsumedMore();
    }

    /** No message is taken any more, so none is work. */
    void beginClose() {
        closing = true;
        moreToTake = false;
        if (wakeUpDue) {
            ring();
        }
    }

    /** What remains to be done while this side closes: seeing what the peer has taken. */
    int progressOfClose() throws ShmProtocolException {
        return takeConsumption();
    }

    /** Whether the peer has not taken yet what it was sent. */
    boolean hasSendsUnderWay() {
        return sends.hasOutstanding() && sends.oldestRead() == null;
    }

    int agreedReadDepth() {
        return agreedReadDepth;
    }

    boolean isWaitingForReceive() {
        return blocked;
    }

    /**
     * Whether {@link #progress} has found that the peer had not ended the connection, and that its memory was there, and has not
     * looked there since.
     */
    boolean isSettled() {
        return settled;
    }

    boolean hasPeerEnded() {
        peerEnded = peerEnded || peer.hasEnded();
        return peerEnded;
    }

    /** The peer has ended the connection: fails the work request that it names, if it names one, and tells why. */
    IOException peerEnded() throws ShmProtocolException {
        takeConsumption(); // what it has consumed before
        EndReason reason = peer.endReason();
        if (reason == EndReason.CLOSED) {
            return null;
        }
        sends.fail(peer.endEntry(), reason.status(), reason.code());
        String text = peer.endText();
        MappedFiles.settle(); // before the memory is unmapped
        return new PeerEndedException(reason, text, sends.longestSendBytes());
    }

    /** Looks at the memory of both sides, whether there is something to do or not. */
    void probe() {
        own.probe();
        hasWork();
    }

    /** Tells the peer that the connection has ended; from then on it believes nothing any more. */
    void end(EndReason reason, String text) {
        try {
            own.end(reason, reason == EndReason.CLOSED ? -1 : peer.nextEntry(), text);
            MappedFiles.settle();
        } catch (InternalError e) {
            // Somebody has truncated this side's own file. The end of the socket tells the peer.
        }
    }

    /** The other side has mapped what it needs. */
    void peerIsReady() {
        own.unlink();
    }

    /** From here on none of the memory of this connection is touched. */
    void close() {
        own.close();
        peer.close();
        blocks.release();
    }
}
