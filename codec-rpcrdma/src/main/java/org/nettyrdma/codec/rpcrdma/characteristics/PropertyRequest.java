package org.nettyrdma.codec.rpcrdma.characteristics;

import java.util.Objects;
import org.nettyrdma.codec.rpcrdma.header.PropertySet;

/**
 * RDMA2_REQPROP: the sender asks its peer to change properties of the peer (xcharext-02, section 4.2).
 *
 * @param wanted the values that the sender would like the peer to have
 */
record PropertyRequest(PropertySet wanted) {

    PropertyRequest {
        Objects.requireNonNull(wanted, "wanted");
    }
}
