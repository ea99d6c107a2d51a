/**
 * Calls that come in and their replies. The entry class is {@code ResponderChunkHandler}: {@code RequestArrivals} checks calls,
 * lets them wait for memory and fetches their Read chunks by {@code ReadChunkFetch}, {@code ResponderReplies} sends replies, and
 * {@code ReplyPlacement} decides which part of a reply goes into which chunk. All of it belongs to the event loop of a channel.
 */
package org.nettyrdma.codec.rpcrdma.responder;
