package org.nettyrdma.example.nfs.v41;

import java.util.Arrays;

/** The slots of a session's back channel (RFC 8881, section 2.10.6). No reply is cached: nothing that is served here needs it. */
final class CallbackSession {

    private final int[] lastSequence;
    private byte[] id = new byte[0];

    CallbackSession(int slots) {
        lastSequence = new int[slots];
    }

    int slots() {
        return lastSequence.length;
    }

    synchronized void open(byte[] sessionId) {
        id = sessionId;
        Arrays.fill(lastSequence, 0);
    }

    /** Takes a CB_SEQUENCE and returns its status. */
    synchronized int next(byte[] sessionId, int sequence, int slot) {
        if (!Arrays.equals(id, sessionId)) {
            return Nfs41.NFS4ERR_BADSESSION;
        }
        if (slot < 0 || slot >= lastSequence.length) {
            return Nfs41.NFS4ERR_BADSLOT;
        }
        if (sequence == lastSequence[slot]) {
            return Nfs41.NFS4ERR_RETRY_UNCACHED_REP;
        }
        if (sequence != lastSequence[slot] + 1) {
            return Nfs41.NFS4ERR_SEQ_MISORDERED;
        }
        lastSequence[slot] = sequence;
        return Nfs41.NFS4_OK;
    }
}
