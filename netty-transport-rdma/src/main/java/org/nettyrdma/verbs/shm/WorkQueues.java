package org.nettyrdma.verbs.shm;

import org.nettyrdma.verbs.support.SteeringTagTable;

/** What was posted on a queue pair and has not completed, the Reads of its peer, and what the peer may access. */
record WorkQueues(SendQueue sends, ReceiveSource receives, GrantQueue grants, SteeringTagTable steeringTags) {

    /**
     * Completes everything as flushed, and lets the peer access nothing any more. What an Error keeps back is completed by the
     * next call.
     */
    void flush() {
        steeringTags.clear();
        try {
            grants.flush();
        } finally {
            try {
                sends.flush();
            } finally {
                receives.flush();
            }
        }
    }
}
