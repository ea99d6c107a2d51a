package org.nettyrdma.verbs;

/**
 * What applies to a connection request before a queue pair exists for it.
 *
 * @param requestTimeoutMillis how long a peer that has connected may take to send its whole request, in milliseconds
 * @param maxPendingRequests   how many connections may owe their request at once; more wait until these have sent it or were
 *                             dropped. These two matter where the provider itself reads requests; a device's connection manager delivers
 *                             whole ones
 * @param receiveBufferBytes   size of the kernel's receive buffer of each connection in bytes where the transport runs over
 *                             sockets; 0 for the system's default
 * @param reuseAddress         whether the address may be bound while connections of an earlier listener linger; {@code false} forbids it
 *                             only where the provider listens with sockets, a device's connection manager always lets it
 */
public record ListenAttributes(int requestTimeoutMillis, int maxPendingRequests, int receiveBufferBytes,
        boolean reuseAddress) {
}
