package org.nettyrdma.verbs.iwarp;

import org.nettyrdma.verbs.support.SendRing;
import org.nettyrdma.verbs.support.SteeringTagTable;

/**
 * What a queue pair has before it has a connection.
 *
 * @param sends        work requests of the send side
 * @param receives     buffers for the peer's Sends
 * @param steeringTags memory that the peer may touch
 */
record WorkQueues(SendRing sends, ReceiveSource receives, SteeringTagTable steeringTags) {

    /** Completes everything as flushed, and exposes nothing any more. What an Error keeps back is completed by the next call. */
    void flush() {
        steeringTags.clear();
        try {
            sends.flush();
        } finally {
            receives.flush();
        }
    }
}
