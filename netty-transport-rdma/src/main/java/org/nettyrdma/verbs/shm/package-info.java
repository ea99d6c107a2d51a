/**
 * Shared memory between processes of one host, as a provider of its own: the semantics of RDMA without a network. A connection
 * is a domain socket, which sets it up, wakes sleepers and tells the end of the peer, and a file of each side, which the other
 * maps for reading.
 *
 * <p>Reading order: {@link org.nettyrdma.verbs.shm.ShmProvider}, {@code ControlLayout}, {@code ShmQueuePair}, {@code Exchange},
 * {@code ShmContext}; {@code ProcessDirectory} and {@code SharedDirectory} for the files. What is not about shared memory is in
 * {@link org.nettyrdma.verbs.support}: sockets, timers, the send queue, steering tags.
 *
 * <p>Threading: everything that belongs to a context is used by that context's thread only and keeps plain fields. The
 * provider, its memory, its directory and its statistics may be used from any thread.
 */
package org.nettyrdma.verbs.shm;
