/**
 * What passes between ONC RPC and the transport below it: the events about single calls, promises that tell how each write has
 * ended, reads that were asked for, and the watch over transfers. All of it belongs to the event loop of a channel. The
 * package is not exported.
 */
package org.nettyrdma.codec.oncrpc.transport;
