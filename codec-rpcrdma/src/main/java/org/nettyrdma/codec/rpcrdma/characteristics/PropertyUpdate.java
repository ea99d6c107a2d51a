package org.nettyrdma.codec.rpcrdma.characteristics;

import java.util.Objects;
import org.nettyrdma.codec.rpcrdma.header.PropertySet.Entry;

/**
 * RDMA2_UPDPROP: a property of the sender has a new value (xcharext-02, section 4.4).
 *
 * @param now            the property and its value
 * @param pendingCleared whether a request of the receiver for this property is no longer pending; {@code false} without such a
 *                       request
 */
record PropertyUpdate(Entry now, boolean pendingCleared) {

    PropertyUpdate {
        Objects.requireNonNull(now, "now");
    }
}
