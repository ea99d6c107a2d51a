package org.nettyrdma.channel;

import java.io.IOException;
import org.nettyrdma.verbs.WorkCompletionStatus;

/**
 * An RDMA operation failed. Where a work request failed, {@link #status()} says how; such a failure ends the connection.
 */
public class RdmaException extends IOException {

    private static final long serialVersionUID = 1;

    /** How the work request ended, {@code null} if the failure was not a work request's. */
    private final WorkCompletionStatus status;

    /**
     * A failure that no work request reported.
     *
     * @param message what failed, and which limit or setting decides
     */
    public RdmaException(String message) {
        super(message);
        status = null;
    }

    /**
     * A failure with a cause.
     *
     * @param message what failed
     * @param cause   why
     */
    public RdmaException(String message, Throwable cause) {
        super(message, cause);
        status = null;
    }

    RdmaException(String operation, WorkCompletionStatus status, int vendorError) {
        super(operation + " failed: " + status + " (vendor error " + vendorError + ')');
        this.status = status;
    }

    /** The peer has sent a message that is longer than the receive buffer that it found. */
    static RdmaException messageTooLong(int bufferBytes, WorkCompletionStatus status, int vendorError) {
        return new RdmaException("a message of the peer is longer than the receive buffer of " + bufferBytes
                + " bytes for it: raise RdmaChannelOption.RECEIVE_BUFFER_SIZE, or let the peer send less (with RpcRdma both is "
                + "inlineThresholdBytes); the connection is closed. The provider said " + status + ", " + vendorError
                + ", which is the length of the message as far as it has come if the provider is iwarp or shm", status);
    }

    private RdmaException(String message, WorkCompletionStatus status) {
        super(message);
        this.status = status;
    }

    /**
     * How the work request ended.
     *
     * @return the status, {@code null} if the failure was not that of a work request
     */
    public WorkCompletionStatus status() {
        return status;
    }
}
