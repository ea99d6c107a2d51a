/**
 * Credits: how many requests may be in progress on a connection at once, for protocols that must not send a message for which the
 * peer has no receive buffer. The package knows neither RDMA nor RPC. The rules are those of RPC-over-RDMA (RFC 8166, section
 * 3.3.1).
 *
 * <p>The entry class is {@link org.nettyrdma.handler.credit.CreditGate}, a handler above a codec whose messages are
 * {@link org.nettyrdma.handler.credit.CreditedMessage}s. Everything here belongs to the event loop of its channel.
 */
package org.nettyrdma.handler.credit;
