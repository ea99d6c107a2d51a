/**
 * RDMA hardware through DiSNI. The entry class is {@link org.nettyrdma.verbs.disni.DisniProvider}; nothing else is public.
 *
 * <p>{@code DisniContext} is where a reader begins, then {@code DisniQueuePair} (the life of a connection) and {@code WorkQueues}
 * (what its device does). {@code NativeVerbs} is the border to native code, with one subclass for each of the two native
 * libraries; nothing above it knows which one there is.
 *
 * <p>Threading: what belongs to a context is used by that context's thread only and keeps plain fields. The provider, its memory,
 * {@code Device} and {@code ConnectionManager} may be used from any thread: all contexts share the device, and its connection
 * events come to whichever context looks first, which hands them to that of their owner.
 */
package org.nettyrdma.verbs.disni;
