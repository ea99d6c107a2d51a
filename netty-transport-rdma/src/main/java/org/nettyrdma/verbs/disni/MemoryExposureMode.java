package org.nettyrdma.verbs.disni;

import org.nettyrdma.verbs.Capabilities.Exposure;

/** How memory is opened to a peer. */
enum MemoryExposureMode {
    /** By a memory window of type 2, bound for one call, withdrawn by either side, good for one connection. */
    WINDOW(Exposure.PER_CALL, "memory windows, for one call each",
            NativeExtensions.ACCESS_LOCAL_WRITE | NativeExtensions.ACCESS_WINDOW_BIND),
    /** By a registration of just these bytes, for one call, withdrawn by this side. */
    REGISTRATION(Exposure.PER_CALL_REGISTRATION, "registration for one call each", NativeExtensions.ACCESS_LOCAL_WRITE),
    /** By the key of the whole region, which is never withdrawn. */
    PERSISTENT(Exposure.PERSISTENT, "PERSISTENT KEYS, AS CONFIGURED: peers keep their access to all registered memory",
            NativeExtensions.ACCESS_LOCAL_WRITE | NativeExtensions.ACCESS_REMOTE_READ | NativeExtensions.ACCESS_REMOTE_WRITE);

    private final Exposure exposure;
    private final String description;
    private final int regionAccess;

    MemoryExposureMode(Exposure exposure, String description, int regionAccess) {
        this.exposure = exposure;
        this.description = description;
        this.regionAccess = regionAccess;
    }

    Exposure exposure() {
        return exposure;
    }

    /** With what rights a memory region is registered. */
    int regionAccess() {
        return regionAccess;
    }

    String description() {
        return description;
    }
}
