package org.nettyrdma.verbs.iwarp;

import io.netty.util.collection.IntObjectHashMap;
import java.util.function.IntSupplier;
import org.nettyrdma.verbs.MemoryRegion;

/**
 * What one connection has exposed to its peer. No other connection's memory can be named here, whatever tag a peer guesses
 * (RFC 5042, section 6.1.1).
 */
final class SteeringTagTable {

    private static final int INITIAL_CAPACITY = 8;

    private final IntSupplier generator;
    private final IntObjectHashMap<SteeringTag> tags = new IntObjectHashMap<>(INITIAL_CAPACITY);

    SteeringTagTable(IntSupplier generator) {
        this.generator = generator;
    }

    SteeringTag expose(MemoryRegion region, int offset, int length, int access) {
        int value;
        do {
            value = generator.getAsInt();
        } while (tags.containsKey(value));
        SteeringTag tag = new SteeringTag(value, region, offset, length, access);
        tags.put(value, tag);
        return tag;
    }

    /**
     * Finds a valid tag; all 32 bits count.
     *
     * @return the tag, or {@code null} if there is none
     */
    SteeringTag find(int value) {
        return tags.get(value);
    }

    /**
     * Withdraws a tag: from now on it is not found, and {@link SteeringTag#isValid()} is false for those that hold it.
     *
     * @return the tag, or {@code null} if there was none
     */
    SteeringTag remove(int value) {
        SteeringTag tag = tags.remove(value);
        if (tag != null) {
            tag.invalidate();
        }
        return tag;
    }

    void clear() {
        for (SteeringTag tag : tags.values()) {
            tag.invalidate();
        }
        tags.clear();
    }
}
