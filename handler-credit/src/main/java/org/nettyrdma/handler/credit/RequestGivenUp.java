package org.nettyrdma.handler.credit;

/**
 * A user event, fired through the whole pipeline: a request was given up, and its response is not awaited any more.
 * {@link CreditGate} describes the consequences. Any event may implement this interface.
 */
public interface RequestGivenUp {

    /**
     * The number of the request.
     *
     * @return the number, constant
     */
    int xid();
}
