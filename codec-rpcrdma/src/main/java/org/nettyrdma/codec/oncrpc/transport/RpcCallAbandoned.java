package org.nettyrdma.codec.oncrpc.transport;

import org.nettyrdma.handler.credit.RequestGivenUp;

/**
 * User event, fired through the whole pipeline: a call has timed out or was cancelled, and nobody waits for its reply any more. A
 * transport that keeps memory open for the reply closes or counts that memory. There is no further event when the reply comes. A
 * call that timed out fails after this event.
 *
 * @param xid the transaction identifier of the call
 */
public record RpcCallAbandoned(int xid) implements RequestGivenUp {
}
