package org.nettyrdma.codec.rpcrdma.legacy;

import static io.netty.util.internal.ObjectUtil.checkInRange;

import org.nettyrdma.codec.rpcrdma.RpcRdmaBuilder;

/**
 * Speaks with peers of the oldest form of version 1 (draft-ietf-nfsv4-rpcrdma-02), whose elements RFC 8166, section 4.6 no
 * longer supports; see {@link RpcRdmaBuilder#legacy}. Immutable.
 *
 * <p>On a server, a reply that neither fits inline nor into what its call offered is answered with Read chunks (sections 3.8 and
 * 5.1 of that draft). The server exposes the reply. The client fetches it, and then sends RDMA_DONE. <b>What this costs:</b>
 * memory of the server is open to the client for reading, and in use, until the client sends RDMA_DONE or the time of this
 * profile is over. Each reply takes another round trip. A client of today that offers too little memory for its reply regards
 * such a reply as malformed, fails the call and never sends RDMA_DONE.
 *
 * <p>When the time for RDMA_DONE is over, the memory is withdrawn and the connection lives. A read that comes later ends the
 * connection. The draft allows either this or closing the connection. The reply still counts as pending, since its RDMA_DONE can
 * come at any time and needs a receive. So a client that never sends RDMA_DONE gets {@code maxPendingReplies} such replies on one
 * connection, and ERR_CHUNK after that.
 *
 * <p>Receives: for each pending reply a server has one receive posted besides those for its credits, so that RDMA_DONE always
 * finds a receive, however the client counts its credits. A client sends RDMA_DONE on the credit of the call that it belongs to,
 * and uses that credit again when the server is known to have received RDMA_DONE. So no server needs more receives than it grants
 * credits.
 *
 * @param maxPendingReplies  replies with Read chunks on one connection of a server that wait for RDMA_DONE; 1 to 1024, default
 *                           16. Those beyond it are refused with ERR_CHUNK. Each costs a receive buffer. A client does not
 *                           use it
 * @param maxPendingBytes    the bytes of these replies together; 1 to 1 GiB, default 16 MiB. Replies beyond it are refused
 *                           with ERR_CHUNK. A client does not use it
 * @param doneTimeoutMillis  how long memory stays open for a client that does not send RDMA_DONE, in milliseconds; 1 to
 *                           3600000, default 30000. Too small a value shows as connections lost to clients that are slow to
 *                           read. A client does not use it
 */
public record LegacyProfile(int maxPendingReplies, int maxPendingBytes, int doneTimeoutMillis) {

    /** The default of each limit. */
    public static final LegacyProfile DEFAULT = new LegacyProfile(16, 16 << 20, 30_000);

    /**
     * Checks each limit.
     *
     * @param maxPendingReplies replies that wait for RDMA_DONE
     * @param maxPendingBytes   their bytes
     * @param doneTimeoutMillis how long they wait with their memory open
     * @throws IllegalArgumentException if one is out of its range; the message names it
     */
    public LegacyProfile {
        checkInRange(maxPendingReplies, 1, 1024, "maxPendingReplies");
        checkInRange(maxPendingBytes, 1, 1 << 30, "maxPendingBytes");
        checkInRange(doneTimeoutMillis, 1, 3_600_000, "doneTimeoutMillis");
    }
}
