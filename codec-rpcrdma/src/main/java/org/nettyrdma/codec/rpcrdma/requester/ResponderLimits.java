package org.nettyrdma.codec.rpcrdma.requester;

import java.util.List;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.codec.oncrpc.ReplySpace;
import org.nettyrdma.codec.rpcrdma.CallLayout;
import org.nettyrdma.codec.rpcrdma.PeerPolicy;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaError;

/**
 * What a responder has said about itself by refusing calls (version-two-08, section 5.3.3): how many chunks and segments it
 * takes. It holds for the rest of the connection, so that the same refusal does not come for every such call; limits only ever
 * fall. How much room a reply needs is not part of it, as each call needs another.
 *
 * @param maxReadChunks  Read chunks, a Position Zero Read chunk counted; 0 if it takes no other than that one
 * @param maxWriteChunks Write chunks
 * @param maxSegments    segments in a chunk, at least 1
 */
record ResponderLimits(int maxReadChunks, int maxWriteChunks, int maxSegments) {

    /** It has refused nothing yet. */
    static final ResponderLimits UNKNOWN = new ResponderLimits(Integer.MAX_VALUE, Integer.MAX_VALUE, Integer.MAX_VALUE);

    /** These limits with what an error tells, which may be nothing. */
    ResponderLimits learn(RpcRdmaError error) {
        if (error instanceof RpcRdmaError.ReadChunks read) {
            return new ResponderLimits(smaller(maxReadChunks, read.max()), maxWriteChunks, maxSegments);
        }
        if (error instanceof RpcRdmaError.WriteChunks write) {
            return new ResponderLimits(maxReadChunks, smaller(maxWriteChunks, write.max()), maxSegments);
        }
        if (error instanceof RpcRdmaError.Segments segments && segments.max() > 0) { // no chunk has none
            return new ResponderLimits(maxReadChunks, maxWriteChunks, smaller(maxSegments, segments.max()));
        }
        return this;
    }

    private static int smaller(int known, long told) {
        return (int) Math.min(known, told);
    }

    /** What is offered to this responder of what a policy allows. */
    PeerPolicy within(PeerPolicy policy) {
        if (this == UNKNOWN) {
            return policy;
        }
        return new PeerPolicy(Math.max(1, Math.min(maxReadChunks, policy.maxReadChunks())), policy.writeListWithReplyChunk(),
                Math.min(maxSegments, policy.maxSegmentsPerChunk()), policy.maxSegmentBytes());
    }

    /**
     * What may travel in chunks. Where the responder takes fewer Write chunks than there are results, it gets none of them but
     * a Reply chunk, as the draft recommends.
     */
    CallLayout within(CallLayout layout) {
        if (this == UNKNOWN) {
            return layout;
        }
        List<DataItem> items = maxReadChunks == 0 ? List.of() : layout.items();
        ReplySpace space = layout.replySpace();
        if (space != null && space.maxDataItemBytes().size() > maxWriteChunks) {
            space = new ReplySpace((int) Math.min(RequestPlan.wholeReplyBytes(space), Integer.MAX_VALUE));
        }
        return new CallLayout(items, space);
    }
}
