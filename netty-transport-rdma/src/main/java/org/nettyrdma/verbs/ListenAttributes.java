package org.nettyrdma.verbs;

/**
 * The settings for a connection request before a queue pair exists for it.
 *
 * @param requestTimeoutMillis how long a peer that has connected may take to send its whole request, in milliseconds
 * @param maxPendingRequests   how many peers may be connected without having sent their whole request. When there is one more,
 *                             the address with the most such peers loses the oldest of them
 * @param maxPendingRequestsPerAddress how many connections from one {@linkplain org.nettyrdma.peer.PeerAddress address}
 *                                     may be connected without having sent their whole request; when there is one more, the
 *                                     oldest of them is dropped. The first three values matter where the provider itself reads
 *                                     requests, and addresses where its peers can be of other hosts. The connection manager of a
 *                                     device delivers whole requests
 * @param receiveBufferBytes   size of the kernel's receive buffer of each connection in bytes where the transport runs over
 *                             sockets; 0 for the system's default
 * @param reuseAddress         whether the address may be bound while connections of an earlier listener linger; {@code false}
 *                             forbids it only where the provider listens with sockets, a device's connection manager always lets
 *                             it
 */
public record ListenAttributes(int requestTimeoutMillis, int maxPendingRequests, int maxPendingRequestsPerAddress,
        int receiveBufferBytes, boolean reuseAddress) {
}
