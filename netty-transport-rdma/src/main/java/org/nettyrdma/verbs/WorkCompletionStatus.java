package org.nettyrdma.verbs;

/**
 * How a work request ended. The codes are those of libibverbs ({@code enum ibv_wc_status}).
 */
public enum WorkCompletionStatus {
    /** Done. */
    SUCCESS(0),
    /** A received message was longer than the receive buffer, or a local length was wrong. */
    LOCAL_LENGTH_ERROR(1),
    /** The queue pair was used in a way its state or type does not allow. */
    LOCAL_QUEUE_PAIR_OPERATION_ERROR(2),
    /** The work request named local memory that is not registered for it. */
    LOCAL_PROTECTION_ERROR(4),
    /** The queue pair went into the error state before this work request was done; the cause was reported elsewhere. */
    WORK_REQUEST_FLUSHED(5),
    /** Binding or invalidating a memory window failed. */
    MEMORY_WINDOW_BIND_ERROR(6),
    /** The peer answered with something the protocol does not allow. */
    BAD_RESPONSE_ERROR(7),
    /** The peer used a steering tag of this side in a way it does not allow. */
    LOCAL_ACCESS_ERROR(8),
    /** The peer refused the request as malformed. */
    REMOTE_INVALID_REQUEST_ERROR(9),
    /** The peer refused access to its memory. */
    REMOTE_ACCESS_ERROR(10),
    /** The peer failed for reasons of its own. */
    REMOTE_OPERATION_ERROR(11),
    /** The peer did not answer in time. */
    TRANSPORT_RETRY_EXCEEDED(12),
    /** The peer had no receive posted for too long. */
    RECEIVER_NOT_READY_RETRY_EXCEEDED(13),
    /** The operation was aborted by the peer. */
    REMOTE_ABORTED_ERROR(16),
    /** The device has failed. */
    FATAL_ERROR(19),
    /** The peer did not answer. */
    RESPONSE_TIMEOUT_ERROR(20),
    /** A failure of no other kind. */
    GENERAL_ERROR(21),
    /** A code that this class does not know. */
    UNKNOWN(-1);

    private final int code;

    WorkCompletionStatus(int code) {
        this.code = code;
    }

    /**
     * The number that libibverbs gives this status.
     *
     * @return the code, -1 for {@link #UNKNOWN}
     */
    public int code() {
        return code;
    }

    /**
     * Finds the status for a number from libibverbs.
     *
     * @param code the number
     * @return the status, {@link #UNKNOWN} for a number that stands for none
     */
    public static WorkCompletionStatus of(int code) {
        for (WorkCompletionStatus status : values()) {
            if (status.code == code) {
                return status;
            }
        }
        return UNKNOWN;
    }
}
