package org.nettyrdma.benchmarks;

/**
 * Memory that the connections of a peer take on each end, in bytes; what the kernel has for their sockets is not in it.
 *
 * @param clientBytes of all of them on the end that has opened them
 * @param serverBytes of all of them on the other end
 */
record EndsMemory(long clientBytes, long serverBytes) {

    /**
     * What has been added since there were no connections.
     *
     * @param without before they were opened
     */
    static EndsMemory between(Without without, MemoryUse client, MemoryUse server) {
        return new EndsMemory(client.bytes() - without.client().bytes(), server.bytes() - without.server().bytes());
    }

    /**
     * Both ends without connections. Pools keep their direct memory, so that it is compared with what it was before the first
     * connection; classes and compiled code stay, so that the heap is compared with what it is when the first connection has been
     * closed again.
     *
     * @param client the end that opens connections
     * @param server the other end
     */
    record Without(MemoryUse client, MemoryUse server) {

        /** The same with the heaps of later. */
        Without withHeapOf(Without later) {
            return new Without(new MemoryUse(later.client.heapBytes(), client.directBytes()),
                    new MemoryUse(later.server.heapBytes(), server.directBytes()));
        }
    }
}
