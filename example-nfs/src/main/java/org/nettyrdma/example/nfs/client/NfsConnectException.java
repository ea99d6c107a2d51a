package org.nettyrdma.example.nfs.client;

import io.netty.handler.codec.TooLongFrameException;
import java.io.IOException;
import org.nettyrdma.codec.oncrpc.RpcConnectionException;
import org.nettyrdma.codec.oncrpc.RpcTimeoutException;

/** The server cannot be reached. */
public final class NfsConnectException extends IOException {

    private static final long serialVersionUID = 1L;

    NfsConnectException(String message, Throwable cause) {
        super(message, cause);
    }

    static NfsConnectException of(String server, String reason, Throwable cause) {
        return new NfsConnectException("cannot connect to " + server + ": " + reason, cause);
    }

    /** Says why an attempt to connect to one address has failed. */
    static String reason(Throwable cause) {
        if (cause instanceof RpcConnectionException && !(cause.getCause() instanceof TooLongFrameException)) {
            return "the server has taken the connection and ended it without an answer, as it does when it has too many";
        }
        if (cause instanceof RpcTimeoutException) {
            return "the server has taken the connection and does not answer";
        }
        // Netty adds the address to what the system says.
        Throwable original = cause.getCause() != null ? cause.getCause() : cause;
        return original.getMessage() == null ? original.toString() : original.getMessage();
    }
}
