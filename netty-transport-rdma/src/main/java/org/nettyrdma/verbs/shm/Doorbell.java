package org.nettyrdma.verbs.shm;

/**
 * Wakes a peer that sleeps.
 */
@FunctionalInterface
interface Doorbell {

    /** Wakes it. That it cannot be woken is found out where its end is noticed. */
    void ring();
}
