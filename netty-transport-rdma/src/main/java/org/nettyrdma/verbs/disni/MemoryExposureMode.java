package org.nettyrdma.verbs.disni;

import org.nettyrdma.verbs.Capabilities.Exposure;

/**
 * How memory is opened to a peer.
 */
enum MemoryExposureMode {
    /** By a memory window of type 2, bound for one call, withdrawn by either side, good for one connection. */
    WINDOW(Exposure.PER_CALL, "memory windows, for one call each"),
    /** By a registration of just these bytes, for one call, withdrawn by this side. */
    REGISTRATION(Exposure.PER_CALL_REGISTRATION, "registration for one call each"),
    /** By the key of the whole region, which is never withdrawn. */
    PERSISTENT(Exposure.PERSISTENT, "PERSISTENT KEYS, AS CONFIGURED: peers keep their access to all registered memory");

    private final Exposure exposure;
    private final String description;

    MemoryExposureMode(Exposure exposure, String description) {
        this.exposure = exposure;
        this.description = description;
    }

    Exposure exposure() {
        return exposure;
    }

    String description() {
        return description;
    }
}
