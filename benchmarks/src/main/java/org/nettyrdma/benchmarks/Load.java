package org.nettyrdma.benchmarks;

/**
 * What a client keeps under way.
 *
 * @param operation    what each call does
 * @param payloadBytes length of the opaque in each call or reply, a multiple of four
 * @param outstanding  calls under way at once on each connection, at least 1
 */
record Load(Operation operation, int payloadBytes, int outstanding) {

    Load {
        if (payloadBytes < 2 * Integer.BYTES || (payloadBytes & 3) != 0 || outstanding < 1) {
            throw new IllegalArgumentException("payloadBytes: " + payloadBytes + ", outstanding: " + outstanding);
        }
    }

    /** Whether the payload travels by direct data placement where there is such a thing. */
    boolean bulk() {
        return operation != Operation.ECHO;
    }
}
