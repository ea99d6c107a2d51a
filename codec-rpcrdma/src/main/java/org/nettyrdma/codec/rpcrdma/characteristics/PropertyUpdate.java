package org.nettyrdma.codec.rpcrdma.characteristics;

import java.util.Objects;
import org.nettyrdma.codec.rpcrdma.PropertySet.Entry;

/**
 * RDMA2_UPDPROP: a property of the sender has another value (xcharext-02, section 4.4).
 *
 * @param now            the property and its value
 * @param pendingCleared whether a request of the receiver for this property is not pending any more; never if nobody asked
 */
public record PropertyUpdate(Entry now, boolean pendingCleared) {

    /**
     * Checks that the value is there.
     *
     * @param now            the property and its value
     * @param pendingCleared whether a request of the receiver for this property is not pending any more
     */
    public PropertyUpdate {
        Objects.requireNonNull(now, "now");
    }
}
