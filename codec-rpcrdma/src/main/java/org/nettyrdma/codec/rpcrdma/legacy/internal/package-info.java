/**
 * What {@code RpcRdma} gives the handlers of a connection for the oldest form of the protocol: {@code LegacyReplies} sends
 * replies that the requester fetches, {@code LegacyReplyFetch} fetches them, and {@code AlignmentPadding} takes padding out of
 * arguments. Each implements an interface of the package that needs it, which knows nothing of this one. Belongs to the event
 * loop of a channel.
 */
package org.nettyrdma.codec.rpcrdma.legacy.internal;
