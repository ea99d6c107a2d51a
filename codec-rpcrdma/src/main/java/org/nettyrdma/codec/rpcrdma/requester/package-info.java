/**
 * Calls that go out and their replies. The entry class is {@code RequesterChunkHandler}: {@code RequestPlan} decides how a
 * call travels, {@code ChunkExposer} exposes memory, {@code RequestSender} sends, {@code RequesterCallTable} keeps what is
 * outstanding, and {@code ReplyDelivery} ends a call. All of it belongs to the event loop of a channel.
 */
package org.nettyrdma.codec.rpcrdma.requester;
