package org.nettyrdma.codec.oncrpc;

/**
 * User event, fired through the whole pipeline, that nobody waits for the reply to a call any more: it has timed out or was
 * cancelled. A transport that keeps memory open for the reply closes it, or counts it; it is not told again when the reply
 * comes. A call that timed out fails after this event.
 *
 * @param xid the transaction identifier of the call
 */
public record RpcCallAbandoned(int xid) {
}
