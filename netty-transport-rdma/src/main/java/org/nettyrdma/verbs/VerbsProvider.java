package org.nettyrdma.verbs;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * One way to reach RDMA: a device, or software that speaks the same protocol. Safe for use from any thread.
 *
 * <p>Implementations are found with {@link java.util.ServiceLoader}; loading and constructing one must succeed on every
 * machine, also where it cannot be used, so that {@link #unavailabilityCause()} can say why.
 */
public interface VerbsProvider {

    /**
     * The name by which a user asks for this provider and that appears in logs, for example {@code "iwarp"}.
     *
     * @return a short lower-case name, unique among providers
     */
    String name();

    /**
     * Tells why this provider cannot be used on this machine.
     *
     * @return the reason, whose message says what to do about it, or {@code null} if the provider can be used
     */
    Throwable unavailabilityCause();

    /**
     * What this provider can do and how much of it.
     *
     * @return the limits and features; constant for the life of the provider
     * @throws IllegalStateException if the provider is not available
     */
    Capabilities capabilities();

    /**
     * Makes memory known to the device for local use by every queue pair of this provider: as the source and sink of
     * work requests. It opens nothing to any peer.
     *
     * @param memory a direct buffer; its whole capacity is registered, and it must not be freed before the region is
     *               closed
     * @return the registration
     * @throws IllegalArgumentException if {@code memory} is not direct
     * @throws IOException if the device refuses, for example because the limit of locked memory is reached
     */
    MemoryRegion registerMemory(ByteBuffer memory) throws IOException;

    /**
     * Opens the device for one event loop.
     *
     * @return a context that the calling loop owns and closes
     * @throws IOException if the device or the system refuses
     */
    VerbsContext openContext() throws IOException;
}
