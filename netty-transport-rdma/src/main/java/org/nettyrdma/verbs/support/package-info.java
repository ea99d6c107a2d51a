/**
 * Parts that providers share: direct memory, which any thread may use, and the queue of deliveries and the timers, which belong
 * to one event loop. The package is not exported.
 */
package org.nettyrdma.verbs.support;
