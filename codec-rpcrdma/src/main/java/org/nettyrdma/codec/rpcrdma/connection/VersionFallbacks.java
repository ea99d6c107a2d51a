package org.nettyrdma.codec.rpcrdma.connection;

import java.net.SocketAddress;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The servers that dropped a connection, or did not answer, when they were offered version 2: assumed not to speak it, so that a
 * client does not offer it again and again (version-two-08, section 7.2). Each is forgotten after {@link #REMEMBERED_MINUTES},
 * for it may have been something else, and the oldest one where there are too many. Thread safe.
 */
public final class VersionFallbacks {

    static final int REMEMBERED_MINUTES = 5;
    static final int MAX_ADDRESSES = 1024;

    private final LongSupplier nanoTime;
    /** When each was remembered, oldest first. */
    private final Map<SocketAddress, Long> rememberedNanos = new LinkedHashMap<>();

    public VersionFallbacks(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    synchronized void remember(SocketAddress server) {
        rememberedNanos.remove(server); // to become the youngest
        if (rememberedNanos.size() == MAX_ADDRESSES) {
            rememberedNanos.remove(rememberedNanos.keySet().iterator().next());
        }
        rememberedNanos.put(server, nanoTime.getAsLong());
    }

    /** The server has shown that it speaks version 2. */
    synchronized void forget(SocketAddress server) {
        rememberedNanos.remove(server);
    }

    /** Whether a connection to this server should begin with version 1. */
    synchronized boolean contains(SocketAddress server) {
        Long since = rememberedNanos.get(server);
        if (since == null) {
            return false;
        }
        if (nanoTime.getAsLong() - since >= TimeUnit.MINUTES.toNanos(REMEMBERED_MINUTES)) {
            rememberedNanos.remove(server);
            return false;
        }
        return true;
    }
}
