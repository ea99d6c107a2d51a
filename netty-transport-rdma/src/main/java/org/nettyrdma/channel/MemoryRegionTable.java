package org.nettyrdma.channel;

import io.netty.util.internal.PlatformDependent;
import java.util.Arrays;
import org.nettyrdma.verbs.MemoryRegion;

/** Finds the registered memory that covers an address. Any thread may look up while another adds or removes. */
final class MemoryRegionTable {

    /** Never changed after it was published; sorted by address. */
    private record Snapshot(long[] addresses, MemoryRegion[] regions) {
    }

    /** Takes what is found. */
    interface Pieces {

        /** Adds a piece; {@code false} if there is no room for another. */
        boolean add(MemoryRegion region, int offset, int length);
    }

    private volatile Snapshot snapshot = new Snapshot(new long[0], new MemoryRegion[0]);

    /** Adds a region. Without {@code Unsafe} addresses are not known and nothing is ever looked up by address. */
    synchronized void add(MemoryRegion region) {
        if (!PlatformDependent.hasUnsafe()) {
            return;
        }
        long address = PlatformDependent.directBufferAddress(region.memory());
        Snapshot old = snapshot;
        int at = -Arrays.binarySearch(old.addresses, address) - 1;
        long[] addresses = Arrays.copyOf(old.addresses, old.addresses.length + 1);
        MemoryRegion[] regions = Arrays.copyOf(old.regions, old.regions.length + 1);
        System.arraycopy(old.addresses, at, addresses, at + 1, old.addresses.length - at);
        System.arraycopy(old.regions, at, regions, at + 1, old.regions.length - at);
        addresses[at] = address;
        regions[at] = region;
        snapshot = new Snapshot(addresses, regions);
    }

    /** Removes a region, whose memory is about to be somebody else's. */
    synchronized void remove(MemoryRegion region) {
        Snapshot old = snapshot;
        int at = Arrays.asList(old.regions).indexOf(region);
        if (at < 0) {
            return;
        }
        int rest = old.addresses.length - at - 1;
        long[] addresses = Arrays.copyOf(old.addresses, at + rest);
        MemoryRegion[] regions = Arrays.copyOf(old.regions, at + rest);
        System.arraycopy(old.addresses, at + 1, addresses, at, rest);
        System.arraycopy(old.regions, at + 1, regions, at, rest);
        snapshot = new Snapshot(addresses, regions);
    }

    /**
     * Adds the piece that starts at an address to {@code pieces}; {@code false} if it is not inside one region or does not fit.
     */
    boolean find(long address, int length, Pieces pieces) {
        Snapshot current = snapshot;
        int found = Arrays.binarySearch(current.addresses, address);
        int index = found >= 0 ? found : -found - 2; // the last region that starts at or before the address
        if (index < 0) {
            return false;
        }
        MemoryRegion region = current.regions[index];
        long offset = address - current.addresses[index];
        return offset + length <= region.memory().capacity() && pieces.add(region, (int) offset, length);
    }
}
