package org.nettyrdma.verbs.iwarp;

import java.io.IOException;

/** The peer ended the connection with a Terminate. */
final class PeerTerminatedException extends IOException {

    private static final long serialVersionUID = 1L;

    private final transient TerminateMessage message;

    PeerTerminatedException(TerminateMessage message) {
        super("the peer terminated the connection: " + message.describe());
        this.message = message;
    }

    /**
     * The peer had a buffer that was too short. It does not say which message that was for, or how long the buffer.
     *
     * @param longestSendBytes length of the longest message that the peer was sent
     */
    private PeerTerminatedException(TerminateMessage message, int longestSendBytes) {
        super("a message was longer than the receive buffer of the peer, which closed the connection; the longest that was sent "
                + "has " + longestSendBytes + " bytes: raise RdmaChannelOption.RECEIVE_BUFFER_SIZE there, or send less (with "
                + "RpcRdma both is inlineThresholdBytes). It said: " + message.describe());
        this.message = message;
    }

    /** The same with what this side knows about it. */
    PeerTerminatedException explained(int longestSendBytes) {
        return message.isMessageTooLong() ? new PeerTerminatedException(message, longestSendBytes) : this;
    }

    TerminateMessage terminateMessage() {
        return message;
    }
}
