/**
 * RDMA hardware through DiSNI. The entry class is {@link org.nettyrdma.verbs.disni.DisniProvider}; nothing else is public.
 *
 * <p>{@code DisniContext} is where a reader begins, then {@code DisniQueuePair} (the life of a connection) and {@code WorkQueues}
 * (what its device does). {@code NativeVerbs} is the border to native code, with one subclass for each of the two native
 * libraries; nothing above it knows which one there is.
 */
package org.nettyrdma.verbs.disni;
