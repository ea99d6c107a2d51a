package org.nettyrdma.verbs.support;

import java.util.function.IntSupplier;
import org.nettyrdma.verbs.MemoryRegion;
import org.nettyrdma.verbs.QueuePair;

/**
 * What one connection has exposed to its peer. No other connection's memory can be named here, whatever tag a peer guesses
 * (RFC 5042, section 6.1.1).
 */
public final class SteeringTagTable {

    private final IntSupplier generator;
    /** {@code null} until something is exposed: many connections never expose anything. */
    private IntTable<SteeringTag> tags;

    /**
     * Creates an empty table.
     *
     * @param generator makes tags that no peer can guess, never 0
     */
    public SteeringTagTable(IntSupplier generator) {
        this.generator = generator;
    }

    /**
     * Opens a piece of memory to the peer.
     *
     * @param region registered memory
     * @param offset first byte within {@code region}
     * @param length size in bytes, at least 1
     * @param access the peer's rights
     * @return the tag, which no other entry of this table has
     */
    public SteeringTag expose(MemoryRegion region, int offset, int length, int access) {
        if (tags == null) {
            tags = new IntTable<>();
        }
        int value;
        do {
            value = generator.getAsInt();
        } while (tags.get(value) != null);
        SteeringTag tag = new SteeringTag(value, region, offset, length, access);
        tags.put(value, tag);
        return tag;
    }

    /**
     * Finds a valid tag; all 32 bits count.
     *
     * @param value the tag
     * @return the tag, or {@code null} if there is none
     */
    public SteeringTag find(int value) {
        return tags == null ? null : tags.get(value);
    }

    /**
     * Withdraws a tag: from now on it is not found, and {@link SteeringTag#isValid()} is false for those that hold it.
     *
     * @param value the tag
     * @return the tag, or {@code null} if there was none
     */
    public SteeringTag remove(int value) {
        SteeringTag tag = tags == null ? null : tags.remove(value);
        if (tag != null) {
            tag.invalidate();
        }
        return tag;
    }

    /**
     * Where the memory of a valid tag begins for the peer, as {@link QueuePair#remoteOffset} tells.
     *
     * @param value the tag
     * @return 0, see {@link SteeringTag}
     * @throws IllegalArgumentException if there is no such tag
     */
    public long remoteOffset(int value) {
        if (find(value) == null) {
            throw new IllegalArgumentException(String.format("steeringTag: 0x%08x (expected: a valid one)", value));
        }
        return 0;
    }

    /**
     * Withdraws a tag for a user, as {@link QueuePair#invalidate} does.
     *
     * @param workRequestId by which the user hears of the end of a Read that is in progress
     * @param value         the tag; there need not be such
     * @return {@code true} if nothing uses the memory any more, {@code false} if the user will hear when that is so
     */
    public boolean invalidate(long workRequestId, int value) {
        SteeringTag tag = remove(value);
        if (tag == null || !tag.isBeingRead()) {
            return true;
        }
        tag.awaitWithdrawal(workRequestId);
        return false;
    }

    /** Withdraws all tags. Allocates nothing: a connection may end for want of memory. */
    public void clear() {
        if (tags != null) {
            tags.forEach(SteeringTag::invalidate);
            tags.clear();
        }
    }
}
