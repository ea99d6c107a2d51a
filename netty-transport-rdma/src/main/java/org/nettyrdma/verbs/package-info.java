/**
 * The provider interface: the services of an RDMA device, or of software that behaves like one, for the channel.
 *
 * <p>The entry class is {@link org.nettyrdma.verbs.VerbsProvider}, found with {@link java.util.ServiceLoader}. A provider opens
 * one {@link org.nettyrdma.verbs.VerbsContext} per event loop. Whatever happens is told from
 * {@link org.nettyrdma.verbs.VerbsContext#poll}: completions to the {@link org.nettyrdma.verbs.CompletionHandler}, the life of a
 * connection to its {@link org.nettyrdma.verbs.QueuePair.Listener}, requests of peers to the
 * {@link org.nettyrdma.verbs.ConnectionListener.Handler}.
 *
 * <p>The context and every {@link org.nettyrdma.verbs.QueuePair} and {@link org.nettyrdma.verbs.ConnectionListener} of the
 * context belong to the thread of that loop. They can keep plain fields, and need locks only for what contexts share. A
 * {@link org.nettyrdma.verbs.ConnectionRequest} may pass from one loop to another. The provider itself, every
 * {@link org.nettyrdma.verbs.MemoryRegion} and {@link org.nettyrdma.verbs.VerbsContext#wakeup()} may be used from any thread.
 * Nothing here knows Netty.
 */
package org.nettyrdma.verbs;
