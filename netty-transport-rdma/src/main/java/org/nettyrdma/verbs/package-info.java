/**
 * The provider interface: the services of an RDMA device, or of software that behaves like one, for the channel.
 *
 * <p>The entry class is {@link org.nettyrdma.verbs.VerbsProvider}, found with {@link java.util.ServiceLoader}. A provider opens
 * one {@link org.nettyrdma.verbs.VerbsContext} per event loop; the context and every {@link org.nettyrdma.verbs.QueuePair},
 * {@link org.nettyrdma.verbs.ConnectionListener} and {@link org.nettyrdma.verbs.ConnectionRequest} of the context belong to the
 * thread of that loop. They keep plain fields and take no locks. Only {@link org.nettyrdma.verbs.VerbsContext#wakeup()} and the
 * provider itself may be used from any thread. Nothing here knows Netty.
 */
package org.nettyrdma.verbs;
