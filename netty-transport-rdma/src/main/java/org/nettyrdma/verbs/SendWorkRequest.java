package org.nettyrdma.verbs;

import java.util.Objects;

/**
 * A reusable description of one work request of the send side. Not thread safe; filled, posted and filled again by one
 * event loop, so that posting allocates nothing.
 */
public final class SendWorkRequest {

    /** What a work request does. */
    public enum Opcode {
        /** Sends a message into the peer's next receive. */
        SEND,
        /** Sends a message and withdraws one of the peer's steering tags. */
        SEND_WITH_INVALIDATE,
        /** Places bytes into the peer's memory. */
        WRITE,
        /** Places bytes into the peer's memory and completes the peer's next receive with a number. */
        WRITE_WITH_IMMEDIATE,
        /** Fetches bytes from the peer's memory. */
        READ
    }

    private final MemoryRegion[] regions;
    private final int[] offsets;
    private final int[] lengths;
    private int elementCount;
    private int totalBytes;

    private long workRequestId;
    private Opcode opcode = Opcode.SEND;
    private int steeringTag;
    private long remoteOffset;
    private int immediateData;
    private boolean solicited;

    /**
     * Creates the description of a Send of no bytes, with the id 0.
     *
     * @param maxElements most pieces of local memory it can name
     */
    public SendWorkRequest(int maxElements) {
        regions = new MemoryRegion[maxElements];
        offsets = new int[maxElements];
        lengths = new int[maxElements];
    }

    /**
     * Makes this a Send.
     *
     * @param id returned with the completion
     * @return this, without pieces
     */
    public SendWorkRequest send(long id) {
        return start(id, Opcode.SEND, 0, 0);
    }

    /**
     * Makes this a Send with Invalidate. A tag that the peer does not know ends the connection, and so may one that an RDMA Read
     * of this side is outstanding for: wait for the completion of the Read.
     *
     * @param id           returned with the completion
     * @param remoteTag    the peer's steering tag that the message withdraws
     * @return this, without pieces
     */
    public SendWorkRequest sendWithInvalidate(long id, int remoteTag) {
        return start(id, Opcode.SEND_WITH_INVALIDATE, remoteTag, 0);
    }

    /**
     * Makes this an RDMA Write.
     *
     * @param id              returned with the completion
     * @param remoteTag       the peer's steering tag
     * @param firstByteOffset the tagged offset of the first byte to write
     * @return this, without pieces
     */
    public SendWorkRequest write(long id, int remoteTag, long firstByteOffset) {
        return start(id, Opcode.WRITE, remoteTag, firstByteOffset);
    }

    /**
     * Makes this an RDMA Write with immediate data, which uses up a receive of the peer: see
     * {@link CompletionHandler#onImmediateData}. Without pieces, or with empty ones, nothing is written; the peer's device then
     * looks at neither tag nor offset. Only for providers with {@link Capabilities#writeWithImmediate()}.
     *
     * @param id              returned with the completion
     * @param remoteTag       the peer's steering tag
     * @param firstByteOffset the tagged offset of the first byte to write
     * @param immediate       what the peer is told; on the wire it is big-endian
     * @return this, without pieces
     */
    public SendWorkRequest writeWithImmediate(long id, int remoteTag, long firstByteOffset, int immediate) {
        start(id, Opcode.WRITE_WITH_IMMEDIATE, remoteTag, firstByteOffset);
        immediateData = immediate;
        return this;
    }

    /**
     * Makes this an RDMA Read of as many bytes as its pieces hold together.
     *
     * @param id              returned with the completion
     * @param remoteTag       the peer's steering tag
     * @param firstByteOffset the tagged offset of the first byte to read
     * @return this, without pieces
     */
    public SendWorkRequest read(long id, int remoteTag, long firstByteOffset) {
        return start(id, Opcode.READ, remoteTag, firstByteOffset);
    }

    private SendWorkRequest start(long id, Opcode newOpcode, int tag, long offset) {
        for (int i = 0; i < elementCount; i++) {
            regions[i] = null;
        }
        elementCount = 0;
        totalBytes = 0;
        workRequestId = id;
        opcode = newOpcode;
        steeringTag = tag;
        remoteOffset = offset;
        immediateData = 0;
        solicited = false;
        return this;
    }

    /**
     * Asks that the peer be woken by a Send, or by immediate data, even where it waits for solicited events only.
     *
     * @return this
     */
    public SendWorkRequest setSolicited() {
        solicited = true;
        return this;
    }

    /**
     * Adds a piece of local memory behind those added before.
     *
     * @param region memory that the provider of the queue pair has registered
     * @param offset first byte within {@code region}
     * @param length size in bytes, may be 0
     * @return this
     * @throws IndexOutOfBoundsException if the piece is not inside the region or there is no room for another piece
     * @throws ArithmeticException if all pieces together are longer than {@link Integer#MAX_VALUE} bytes
     */
    public SendWorkRequest addElement(MemoryRegion region, int offset, int length) {
        Objects.checkFromIndexSize(offset, length, region.memory().capacity());
        Objects.checkIndex(elementCount, regions.length);
        totalBytes = Math.addExact(totalBytes, length);
        regions[elementCount] = region;
        offsets[elementCount] = offset;
        lengths[elementCount] = length;
        elementCount++;
        return this;
    }

    /**
     * The id that the completion returns.
     *
     * @return the id
     */
    public long workRequestId() {
        return workRequestId;
    }

    /**
     * What to do.
     *
     * @return the operation
     */
    public Opcode opcode() {
        return opcode;
    }

    /**
     * The peer's steering tag: to invalidate, to write to or to read from.
     *
     * @return the tag, 0 for a plain Send
     */
    public int steeringTag() {
        return steeringTag;
    }

    /**
     * The tagged offset of the first byte in the peer's memory.
     *
     * @return the offset, an unsigned 64-bit number; 0 for Sends
     */
    public long remoteOffset() {
        return remoteOffset;
    }

    /**
     * The immediate data of an RDMA Write that carries some.
     *
     * @return the number as the peer will see it; 0 for everything else
     */
    public int immediateData() {
        return immediateData;
    }

    /**
     * Whether a Send, or an RDMA Write with immediate data, asks for a solicited event.
     *
     * @return {@code true} if so
     */
    public boolean solicited() {
        return solicited;
    }

    /**
     * How many pieces of local memory there are.
     *
     * @return the number of pieces, may be 0
     */
    public int elementCount() {
        return elementCount;
    }

    /**
     * The bytes of all pieces together.
     *
     * @return the length of the message in bytes
     */
    public int totalBytes() {
        return totalBytes;
    }

    /**
     * The registered memory of a piece.
     *
     * @param index number of the piece, from 0
     * @return its region
     */
    public MemoryRegion region(int index) {
        return regions[Objects.checkIndex(index, elementCount)];
    }

    /**
     * Where a piece starts.
     *
     * @param index number of the piece, from 0
     * @return its first byte within its region
     */
    public int offset(int index) {
        return offsets[Objects.checkIndex(index, elementCount)];
    }

    /**
     * How long a piece is.
     *
     * @param index number of the piece, from 0
     * @return its size in bytes
     */
    public int length(int index) {
        return lengths[Objects.checkIndex(index, elementCount)];
    }
}
