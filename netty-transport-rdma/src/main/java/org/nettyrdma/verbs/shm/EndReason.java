package org.nettyrdma.verbs.shm;

import org.nettyrdma.verbs.WorkCompletionStatus;

/** Why one side has ended a connection, as its control file says. */
enum EndReason {
    /** In order. */
    CLOSED(1, "closed in order", null),
    INVALID_ENTRY(2, "an entry of the ring is malformed", WorkCompletionStatus.REMOTE_INVALID_REQUEST_ERROR),
    INVALID_INDEX(3, "an index is out of range", WorkCompletionStatus.REMOTE_INVALID_REQUEST_ERROR),
    INVALID_BLOCK(4, "a piece lies outside of its block", WorkCompletionStatus.REMOTE_INVALID_REQUEST_ERROR),
    /** Its sender is told by the cause of the end, which names what to do: so no work request fails before with less. */
    MESSAGE_TOO_LONG(5, "a message was too long for its receive buffer", WorkCompletionStatus.WORK_REQUEST_FLUSHED),
    INVALID_STEERING_TAG(6, "invalid steering tag", WorkCompletionStatus.REMOTE_ACCESS_ERROR),
    ACCESS_RIGHTS(7, "access rights violation", WorkCompletionStatus.REMOTE_ACCESS_ERROR),
    OUT_OF_BOUNDS(8, "base or bounds violation", WorkCompletionStatus.REMOTE_ACCESS_ERROR),
    TAG_NOT_INVALIDATED(9, "steering tag cannot be invalidated", WorkCompletionStatus.REMOTE_ACCESS_ERROR),
    TOO_MANY_READS(10, "more RDMA Reads than agreed", WorkCompletionStatus.REMOTE_INVALID_REQUEST_ERROR),
    BAD_GRANT(11, "a grant for no RDMA Read", WorkCompletionStatus.REMOTE_OPERATION_ERROR),
    FAILED(12, "a failure of its own", WorkCompletionStatus.REMOTE_OPERATION_ERROR);

    private final int code;
    private final String text;
    private final WorkCompletionStatus status;

    EndReason(int code, String text, WorkCompletionStatus status) {
        this.code = code;
        this.text = text;
        this.status = status;
    }

    int code() {
        return code;
    }

    /** What becomes of the work request that has caused it. */
    WorkCompletionStatus status() {
        return status;
    }

    /** The reason for a code from a peer; {@link #FAILED} for one that is not known. */
    static EndReason of(int code) {
        for (EndReason reason : values()) {
            if (reason.code == code) {
                return reason;
            }
        }
        return FAILED;
    }

    @Override
    public String toString() {
        return text;
    }
}
