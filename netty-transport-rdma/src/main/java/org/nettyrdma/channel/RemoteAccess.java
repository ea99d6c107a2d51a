package org.nettyrdma.channel;

import org.nettyrdma.verbs.QueuePair;

/** The access of the peer to exposed memory. Reading and writing cannot both be granted: memory is exposed for one purpose. */
public enum RemoteAccess {
    /** The peer may fetch bytes with RDMA Read. */
    READ(QueuePair.ACCESS_REMOTE_READ),
    /** The peer may place bytes with RDMA Write. */
    WRITE(QueuePair.ACCESS_REMOTE_WRITE);

    private final int right;

    RemoteAccess(int right) {
        this.right = right;
    }

    /** The right as {@link QueuePair#expose} takes it. */
    int right() {
        return right;
    }
}
