package org.nettyrdma.verbs.support;

import java.io.IOException;
import org.nettyrdma.peer.PeerLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What becomes of a socket where something has failed. */
public final class SocketFailures {

    private static final Logger LOGGER = LoggerFactory.getLogger(SocketFailures.class);

    private SocketFailures() {
    }

    /**
     * Ends what a handler stands for. A fault of ours must cost one connection, not the loop; neither must a shortage of memory
     * for what has arrived. Any other error goes on to the caller, when nothing of the connection is left open.
     *
     * @param handler is told
     * @param cause   what was thrown
     */
    public static void fail(SocketHandler handler, Throwable cause) {
        if (cause instanceof IOException failure) {
            handler.failed(failure);
        } else if (cause instanceof OutOfMemoryError error) {
            handler.failed(noMemory(error));
        } else if (cause instanceof Error error) {
            handler.failed(new IOException(error.toString(), error));
            throw error;
        } else {
            PeerLog.fault(LOGGER, handler.getClass().getSimpleName(), "unexpected failure; its connection is closed", cause);
            handler.failed((Exception) cause);
        }
    }

    /** Without a trace, since peers can cause it. */
    private static IOException noMemory(OutOfMemoryError cause) {
        IOException failure = new IOException("there is no memory for what arrives or leaves on this connection: "
                + cause.getMessage());
        failure.setStackTrace(new StackTraceElement[0]);
        return failure;
    }

    /**
     * Closes what is of no use any more; that it could not be closed in order is of no consequence.
     *
     * @param closeable what to close
     */
    public static void closeQuietly(AutoCloseable closeable) {
        try {
            closeable.close();
        } catch (Exception e) {
            LOGGER.debug("Closing {} failed: {}", closeable, e.toString());
        }
    }
}
