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

    /** One call that moves the same bytes, and whose reply shows that all are right: instead of a WRITE a CHECKSUM. */
    Load verification() {
        return new Load(operation == Operation.WRITE ? Operation.CHECKSUM : operation, payloadBytes, 1);
    }

    /** Whether the payload is in the reply. */
    boolean returnsPayload() {
        return operation == Operation.ECHO || operation == Operation.READ;
    }

    /** The word that a reply has in the payload's place, or in front of it. */
    int result() {
        return operation == Operation.CHECKSUM ? Payload.checksum(payloadBytes) : payloadBytes;
    }

    /**
     * Checks a reply.
     *
     * @param right whether its content is right
     * @throws IllegalStateException if it is not
     */
    void require(boolean right) {
        if (!right) {
            throw new IllegalStateException("a reply to " + this + " has the wrong content");
        }
    }
}
