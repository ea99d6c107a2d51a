package org.nettyrdma.codec.rpcrdma.characteristics;

import java.util.Objects;

/**
 * RDMA2_RESPPROP: the outcome of the request with the same XID (xcharext-02, section 4.3). Each value of the request
 * is in exactly one of the subsets.
 *
 * @param done     changes that are in effect
 * @param rejected changes that will not be made
 * @param pending  changes that may still be made, which RDMA2_UPDPROP will tell
 */
record PropertyResponse(PropertySubset done, PropertySubset rejected, PropertySubset pending) {

    PropertyResponse {
        Objects.requireNonNull(done, "done");
        Objects.requireNonNull(rejected, "rejected");
        Objects.requireNonNull(pending, "pending");
    }
}
