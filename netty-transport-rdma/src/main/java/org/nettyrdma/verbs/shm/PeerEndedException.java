package org.nettyrdma.verbs.shm;

import java.io.IOException;

/** The peer has ended the connection, and said why. */
final class PeerEndedException extends IOException {

    private static final long serialVersionUID = 1L;

    PeerEndedException(EndReason reason, String text, int longestSendBytes) {
        super(reason == EndReason.MESSAGE_TOO_LONG
                ? "a message was longer than the receive buffer of the peer, which closed the connection; the longest that was "
                        + "sent has " + longestSendBytes + " bytes: raise RdmaChannelOption.RECEIVE_BUFFER_SIZE there, or send "
                        + "less (with RpcRdma both is inlineThresholdBytes). It said: " + text
                : "the peer terminated the connection: " + reason + (text.isEmpty() ? "" : ": " + text));
    }
}
