/**
 * Parts that providers share: direct memory, which any thread may use; and what belongs to one event loop, such as its sockets,
 * its timers and the queue of deliveries. The package is not exported.
 */
package org.nettyrdma.verbs.support;
