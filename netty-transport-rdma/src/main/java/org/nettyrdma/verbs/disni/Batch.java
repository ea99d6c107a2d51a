package org.nettyrdma.verbs.disni;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Work requests of the send side that are marshalled and not posted: always those of one queue pair, so that all of a loop
 * share the memory. Besides RDMA Reads only the last one of a batch asks for a completion, which stands for the others.
 */
final class Batch {

    static final int MAX_REQUESTS = 32;
    /** Pieces of memory in one work request. What more would save in messages, it costs in memory of the native queues. */
    static final int MAX_ELEMENTS = 16;

    private static final int BYTES = 16 * 1024;
    private static final int LARGEST_REQUEST = NativeExtensions.SEND_HEADER_BYTES + MAX_ELEMENTS * NativeExtensions.ELEMENT_BYTES;

    /** Whose work requests these are. */
    interface Owner {

        /** Posts them; where that fails, the owner completes them at its end. */
        void flush();
    }

    private final NativeVerbs verbs;
    private final ByteBuffer memory = NativeVerbs.newMemory(BYTES);
    private Owner owner;
    private int count;
    private int last;
    private int end;

    Batch(NativeVerbs verbs) {
        this.verbs = verbs;
    }

    /** Makes room for one more work request of a queue pair; what others have left here is posted, or dropped if that fails. */
    void prepare(Owner user) {
        if (owner != null && (owner != user || count == MAX_REQUESTS || end + LARGEST_REQUEST > BYTES)) {
            owner.flush();
            clear(); // a flush that fails may leave requests here, which must not go to another queue pair
        }
        owner = user;
    }

    /** Starts a work request. */
    void add(long key, int opcode, int flags, int remoteKey, long remoteAddress) {
        last = end;
        memory.putLong(end + NativeExtensions.SEND_ID, key)
                .putInt(end + NativeExtensions.SEND_OPCODE, opcode)
                .putInt(end + NativeExtensions.SEND_FLAGS, flags)
                .putInt(end + NativeExtensions.SEND_ELEMENTS, 0)
                .putInt(end + NativeExtensions.SEND_KEY, remoteKey)
                .putLong(end + NativeExtensions.SEND_REMOTE_ADDRESS, remoteAddress)
                .putLong(end + NativeExtensions.SEND_ACCESS, 0);
        end += NativeExtensions.SEND_HEADER_BYTES;
        count++;
    }

    /** Sets the immediate data of the work request that was started last. */
    void setImmediate(int immediateData) {
        memory.putInt(last + NativeExtensions.SEND_IMMEDIATE, NetworkOrder.swap(immediateData));
    }

    /** Adds a piece of memory to the work request that was started last. */
    void addElement(Registration registration, int offset, int length) {
        verbs.putElement(memory, end, registration, offset, length);
        memory.putInt(last + NativeExtensions.SEND_ELEMENTS, memory.getInt(last + NativeExtensions.SEND_ELEMENTS) + 1);
        end += NativeExtensions.ELEMENT_BYTES;
    }

    /** Sets the rights of a bind. */
    void setAccess(int access) {
        memory.putInt(last + NativeExtensions.SEND_ACCESS, access);
    }

    /** The key that posting has given to the bind that was started last. */
    int boundKey() {
        return memory.getInt(last + NativeExtensions.SEND_KEY);
    }

    boolean belongsTo(Owner user) {
        return owner == user && count > 0;
    }

    /** Posts everything, the last with a completion. */
    void post(long queuePair) throws IOException {
        int flags = memory.getInt(last + NativeExtensions.SEND_FLAGS);
        memory.putInt(last + NativeExtensions.SEND_FLAGS, flags | NativeExtensions.FLAG_SIGNALED);
        int requests = count;
        clear();
        int offset = 0;
        while (requests > 0) {
            int posted = verbs.postSend(queuePair, memory, offset, requests);
            requests -= posted;
            for (int i = 0; i < posted; i++) {
                offset += NativeExtensions.SEND_HEADER_BYTES
                        + memory.getInt(offset + NativeExtensions.SEND_ELEMENTS) * NativeExtensions.ELEMENT_BYTES;
            }
        }
    }

    /** Forgets what is marshalled. */
    void clear() {
        owner = null;
        count = 0;
        end = 0;
    }
}
