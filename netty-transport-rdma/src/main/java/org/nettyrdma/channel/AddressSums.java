package org.nettyrdma.channel;

import java.util.HashMap;
import java.util.Map;
import org.nettyrdma.peer.PeerAddress;

/**
 * Sums by the address of peers. Only the first part of a sum takes memory, so that what was added can always be taken away. Not
 * safe for use from several threads.
 */
final class AddressSums {

    private final Map<PeerAddress, Sum> sums = new HashMap<>();

    private static final class Sum {
        private long value;
    }

    /** The sum of an address, {@code null} for one that is not known. */
    long of(PeerAddress address) {
        Sum sum = sums.get(address);
        return sum == null ? 0 : sum.value;
    }

    /** Adds to the sum of an address; a negative number takes away. */
    void add(PeerAddress address, long change) {
        Sum sum = sums.computeIfAbsent(address, first -> new Sum());
        sum.value += change;
        if (sum.value == 0) {
            sums.remove(address);
        }
    }
}
