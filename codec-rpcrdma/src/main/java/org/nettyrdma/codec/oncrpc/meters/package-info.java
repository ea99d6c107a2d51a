/**
 * How the metrics of RPC and of RPC-over-RDMA are bound to a Micrometer registry: meters that add up what several objects count,
 * of which the registry keeps none alive. Any thread. The package is not exported.
 */
package org.nettyrdma.codec.oncrpc.meters;
