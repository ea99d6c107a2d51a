/**
 * Parts that providers share: direct memory, which any thread may use; and what belongs to one event loop. Of a provider in
 * software all of that begins with {@link org.nettyrdma.verbs.support.LoopCore}, which has the sockets, the timers and the queue
 * of deliveries. The package is not exported.
 */
package org.nettyrdma.verbs.support;
