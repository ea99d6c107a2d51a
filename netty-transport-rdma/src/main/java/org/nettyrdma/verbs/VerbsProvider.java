package org.nettyrdma.verbs;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.nettyrdma.verbs.support.DirectMemory;

/**
 * One way to reach RDMA: a device, or software that speaks the same protocol. Safe for use from any thread.
 *
 * <p>Implementations are found with {@link java.util.ServiceLoader}. Loading and constructing one must succeed on every machine,
 * also where the provider cannot be used, so that {@link #unavailabilityCause()} can say why.
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
     * How long a message may be that costs less as one Send than with its data in a chunk, for which memory is opened to the peer
     * and an RDMA Read or Write moves the data. Users may choose the length of their receives by it. Only a provider whose
     * {@linkplain Capabilities#receiverWaits() messages wait} and whose receives can be
     * {@linkplain Capabilities#maxSharedReceives() shared} has reason to say so: with others, every receive takes its memory
     * whether or not a message comes.
     *
     * @return the length in bytes; 0 where nothing is known, which is the default
     */
    default int longestPreferredSendBytes() {
        return 0;
    }

    /**
     * Allocates memory that {@link #registerMemory} takes. All registered memory of a channel comes from here, in pieces of some
     * kilobytes to 16 MiB, and goes back with {@link #free} when it was not used for a while. The default is direct memory of the
     * JVM. A provider that needs memory of a certain kind, such as files that its peers map, overrides both methods.
     *
     * <p>When the memory is used up, this method must throw one of the two exceptions, and at once: an event loop is waiting.
     * Earlier allocations stay as they are. The caller may then ask for less, ask again later, or go on with memory that is not
     * registered. The channels do all three, and put the message of the exception into their log.
     *
     * @param bytes the size, at least 1
     * @return a direct buffer: its capacity and limit are {@code bytes}, its position is 0, all bytes are 0, and the first has an
     *         address that is a multiple of 4096. The memory is really there: its use does not fail when the system is short of
     *         memory later. The caller owns it until {@link #free}
     * @throws IllegalArgumentException if the size is less than 1
     * @throws OutOfMemoryError if there is no more memory now; the message says what limits it
     * @throws IOException if the system refuses it, for example because a file system is full
     */
    default ByteBuffer allocate(int bytes) throws IOException {
        return DirectMemory.allocatePages(bytes);
    }

    /**
     * Takes memory back. Nothing may use it any more. Memory whose {@link MemoryRegion#close} has failed must not be given
     * back.
     *
     * @param memory what {@link #allocate} has returned, the same object, once; no region of it is open
     * @throws IllegalArgumentException if it is something else, or was given back before
     */
    default void free(ByteBuffer memory) {
        DirectMemory.freePages(memory);
    }

    /**
     * Makes memory known to the device for local use by every queue pair of this provider: as the source and sink of work
     * requests. This opens nothing to any peer.
     *
     * @param memory what {@link #allocate} has returned; its whole capacity is registered, and it must not be freed before the
     *               region is closed. A provider may take any other direct buffer, too
     * @return the registration
     * @throws IllegalArgumentException if {@code memory} is not direct or cannot be written, or this provider cannot reach memory
     *         of its kind
     * @throws IllegalStateException if the provider is not available
     * @throws IOException if the device refuses, for example because the limit of locked memory is reached
     */
    MemoryRegion registerMemory(ByteBuffer memory) throws IOException;

    /**
     * Opens the device for one event loop.
     *
     * @return a context that one loop owns and closes
     * @throws IOException if the device or the system refuses
     * @throws IllegalStateException if the provider is not available
     */
    VerbsContext openContext() throws IOException;
}
