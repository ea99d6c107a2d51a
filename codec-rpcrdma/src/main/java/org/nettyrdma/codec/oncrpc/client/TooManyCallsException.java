package org.nettyrdma.codec.oncrpc.client;

import java.io.IOException;

/**
 * The cause of a call that fails at once because no connection has room for it, and as many calls, or as many bytes of
 * arguments, wait for a connection as the {@link ReconnectPolicy} allows. No server has seen the call. The cause of this
 * exception, if there is one, is why the last attempt to connect has failed.
 */
public final class TooManyCallsException extends IOException {

    private static final long serialVersionUID = 1L;

    TooManyCallsException(String why, int calls, long bytes, int callBytes, ReconnectPolicy policy, Throwable notConnected) {
        super(why + ", and " + calls + " calls with " + bytes + " bytes wait, so there is no room for one of " + callBytes
                + " bytes to wait (limits: maxWaitingCalls " + policy.maxWaitingCalls() + ", maxWaitingBytes "
                + policy.maxWaitingBytes()
                + ')' + (notConnected == null ? "" : "; last failure: " + notConnected), notConnected);
    }
}
