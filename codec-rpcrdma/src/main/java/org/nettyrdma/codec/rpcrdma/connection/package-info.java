/**
 * What a connection settles, and what ends it: {@code FirstTermsHandler}, and with version 2 {@code ConnectionHandler} and
 * {@code VersionNegotiationHandler}, for the version and the properties, {@code ReceivePlan} for the receives, {@code
 * ReverseDirectionHandler} for calls from server to client, {@code TransferTimeout} for peers that do not take their
 * messages. All but {@code ReceivePlan}, {@code VersionFallbacks}, {@code TransferRounds} and {@code OpenConnections}, which
 * serve many connections, belong to the event loop of a channel.
 */
package org.nettyrdma.codec.rpcrdma.connection;
