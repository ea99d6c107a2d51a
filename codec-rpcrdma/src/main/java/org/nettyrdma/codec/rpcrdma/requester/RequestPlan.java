package org.nettyrdma.codec.rpcrdma.requester;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.codec.oncrpc.ReplySpace;
import org.nettyrdma.codec.rpcrdma.CallRoute;
import org.nettyrdma.codec.rpcrdma.PeerPolicy;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException;
import org.nettyrdma.codec.rpcrdma.RpcRdmaLimits;
import org.nettyrdma.codec.rpcrdma.format.HeaderLayout;
import org.nettyrdma.codec.rpcrdma.header.ChunkLists;
import org.nettyrdma.codec.rpcrdma.shared.InlineThreshold;
import org.nettyrdma.codec.rpcrdma.shared.ItemReduction;
import org.nettyrdma.codec.rpcrdma.shared.RpcOffsets;
import org.nettyrdma.codec.rpcrdma.shared.RpcRdmaFailures;

/**
 * Decides how a call travels and what it offers for its reply. It only reckons with sizes: what is exposed in the end is
 * what is needed and no more.
 *
 * <p>A reply that is certain to fit inline is offered nothing. Otherwise eligible results get Write chunks, and what remains
 * gets a Reply chunk if it may not fit. A call that fits goes inline; otherwise its largest eligible arguments go into Read
 * chunks until the rest fits; and if that is not enough, it goes into a Position Zero Read chunk. Arguments that no Send
 * could carry stay out of that one where the policy allows other Read chunks beside it. Their positions are those in the
 * whole message all the same: the receiver puts them in again there (RFC 8166, section 3.4.5).
 *
 * @param writeChunkBytes size of the Write chunk for each eligible result; empty if none is offered
 * @param replyChunkBytes size of the Reply chunk, 0 if none is offered
 * @param readItems       the arguments that go into Read chunks, in ascending order
 * @param isLong          whether the call, without {@code readItems}, goes into a Position Zero Read chunk
 * @param maxSegments     segments that each Read chunk may have, 0 if there is none
 * @param offerBytes      what the Write chunks and the Reply chunk add to the header
 */
public record RequestPlan(List<Integer> writeChunkBytes, int replyChunkBytes, List<DataItem> readItems, boolean isLong,
                int maxSegments, int offerBytes) {

    /** Inline, and inline back: what most calls get. */
    private static final RequestPlan INLINE = new RequestPlan(List.of(), 0, List.of(), false, 0, 0);

    /** Chunk for a result that can only be empty: no chunk has length 0, since there are responders that fail on it. */
    private static final int SMALLEST_CHUNK_BYTES = 4;

    /**
     * Decides.
     *
     * @param callBytes length of the whole call
     * @param items     its eligible arguments, which have passed {@link ItemReduction#requireWithin}
     * @param space     how large the reply can get, or {@code null} if nobody knows
     * @throws RpcRdmaException if the header with the chunks does not fit into a Send, or a chunk needs too many segments
     */
    public static RequestPlan of(int callBytes, List<DataItem> items, ReplySpace space, InlineThreshold threshold,
                                 PeerPolicy policy, RpcRdmaLimits limits) throws RpcRdmaException {
        return planCall(callBytes, items, planReply(space, threshold, policy, limits), threshold, policy);
    }

    /**
     * Decides, where the reply gets a Reply chunk and nothing else.
     *
     * @param replyChunkBytes size of the Reply chunk
     * @param callBytes       length of the whole call
     * @param items           its eligible arguments, which have passed {@link ItemReduction#requireWithin}
     * @throws RpcRdmaException if the header with the chunks does not fit into a Send, or a chunk needs too many segments
     */
    static RequestPlan withReplyChunk(int replyChunkBytes, int callBytes, List<DataItem> items, InlineThreshold threshold,
                                   PeerPolicy policy) throws RpcRdmaException {
        return planCall(callBytes, items, offering(List.of(), replyChunkBytes, threshold, policy), threshold, policy);
    }

    private static RequestPlan planCall(int callBytes, List<DataItem> items, RequestPlan reply, InlineThreshold threshold,
                                     PeerPolicy policy) throws RpcRdmaException {
        int room = threshold.sendBytes() - threshold.version().chunkFreeLength() - reply.offerBytes - callBytes;
        if (room >= 0) {
            return reply;
        }
        List<DataItem> largest = largestFirst(items);
        for (int i = 0; i < largest.size() && i < policy.maxReadChunks() && largest.get(i).length() > 0; i++) {
            room += RpcOffsets.padded(largest.get(i).length());
            int segments = room / HeaderLayout.READ_ENTRY_LENGTH / (i + 1);
            if (room > 0 && segments >= policy.segmentsOfChunk(largest.get(0).length())) { // the largest needs most
                List<DataItem> taken = i + 1 == largest.size() ? largest : largest.subList(0, i + 1);
                return reply.reading(taken, false, Math.min(segments, policy.maxSegmentsPerChunk()));
            }
        }
        return planLong(callBytes, items, reply, threshold, policy);
    }

    /**
     * For a call, and a reply, that may not have chunks. A reply that does not fit then cannot be conveyed.
     *
     * @throws RpcRdmaException if the call does not fit into a Send
     */
    static RequestPlan withoutChunks(int callBytes, InlineThreshold threshold) throws RpcRdmaException {
        if (!threshold.fitsSend(ChunkLists.EMPTY, callBytes)) {
            throw RpcRdmaFailures.tooLarge("reverse call of %d bytes (expected: at most %d by the inline threshold, as it cannot "
                    + "have chunks)", callBytes, threshold.sendBytes() - threshold.version().chunkFreeLength());
        }
        return INLINE;
    }

    private static RequestPlan planLong(int callBytes, List<DataItem> items, RequestPlan reply, InlineThreshold threshold,
                                     PeerPolicy policy) throws RpcRdmaException {
        List<DataItem> readItems = new ArrayList<>();
        long streamBytes = callBytes;
        for (DataItem item : largestFirst(items)) {
            if (1 + readItems.size() == policy.maxReadChunks() || item.length() <= threshold.sendBytes()) {
                break;
            }
            readItems.add(item);
            streamBytes -= RpcOffsets.padded(item.length());
        }
        long largestBytes = readItems.isEmpty() ? streamBytes : Math.max(streamBytes, readItems.get(0).length());
        int headerBytes = threshold.version().chunkFreeLength() + reply.offerBytes;
        int segments = (threshold.sendBytes() - headerBytes) / HeaderLayout.READ_ENTRY_LENGTH / (1 + readItems.size());
        if (segments < policy.segmentsOf(largestBytes) && !readItems.isEmpty()) {
            return planLong(callBytes, List.of(), reply, threshold, policy); // one chunk needs the least of the header
        }
        if (segments < policy.segmentsOfChunk(largestBytes)) {
            throw RpcRdmaFailures.tooLarge("header of %d bytes leaves no room for a Read chunk of %d bytes (inline threshold: "
                    + "%d)", headerBytes, largestBytes, threshold.sendBytes());
        }
        return reply.reading(readItems, true, Math.min(segments, policy.maxSegmentsPerChunk()));
    }

    private static List<DataItem> largestFirst(List<DataItem> items) {
        if (items.size() < 2) {
            return items;
        }
        List<DataItem> sorted = new ArrayList<>(items);
        sorted.sort(Comparator.comparingInt(DataItem::length).reversed());
        return sorted;
    }

    private static RequestPlan planReply(ReplySpace space, InlineThreshold threshold, PeerPolicy policy, RpcRdmaLimits limits)
            throws RpcRdmaException {
        if (space == null) {
            return offering(List.of(), (int) Math.min(limits.defaultReplyChunkBytes(), mostBytes(threshold, policy)), threshold,
                    policy);
        }
        long wholeBytes = wholeReplyBytes(space);
        if (threshold.fitsReceive(threshold.version().chunkFreeLength(), wholeBytes)) {
            return INLINE;
        }
        List<Integer> writeChunkBytes = writeChunkBytes(space.maxDataItemBytes(), limits);
        int headerBytes = threshold.version().chunkFreeLength() + writeListBytes(writeChunkBytes, policy);
        boolean restFits = threshold.fitsReceive(headerBytes, space.maxReplyBytes());
        if (writeChunkBytes.isEmpty() || !restFits && !policy.writeListWithReplyChunk()) {
            // A reply that is larger than what we accept at all will be refused by the responder.
            return offering(List.of(), (int) Math.min(RpcOffsets.padded(wholeBytes), limits.maxMessageBytes()), threshold,
                    policy);
        }
        long rest = restFits ? 0 : Math.min(RpcOffsets.padded(space.maxReplyBytes()), limits.maxMessageBytes());
        return offering(writeChunkBytes, (int) rest, threshold, policy);
    }

    /** A reply with all of its results. */
    static long wholeReplyBytes(ReplySpace space) {
        long bytes = space.maxReplyBytes();
        for (int i = 0; i < space.maxDataItemBytes().size(); i++) {
            bytes += RpcOffsets.padded(space.maxDataItemBytes().get(i));
        }
        return bytes;
    }

    /** What Write chunks of these sizes add to a header. */
    private static int writeListBytes(List<Integer> chunkBytes, PeerPolicy policy) throws RpcRdmaException {
        int bytes = 0;
        for (int i = 0; i < chunkBytes.size(); i++) {
            bytes += HeaderLayout.writeChunkLength(policy.segmentsOfChunk(chunkBytes.get(i)));
        }
        return bytes;
    }

    /** What a chunk holds at most whose segments leave most of a Send, in either direction, to the rest of the message. */
    private static long mostBytes(InlineThreshold threshold, PeerPolicy policy) {
        int segments = Math.min(threshold.sendBytes(), threshold.receiveBytes()) / 4 / HeaderLayout.SEGMENT_LENGTH;
        return (long) policy.maxSegmentBytes() * Math.min(segments, policy.maxSegmentsPerChunk());
    }

    /** The sizes themselves where they are usable as they are, which they often are. */
    private static List<Integer> writeChunkBytes(List<Integer> itemBytes, RpcRdmaLimits limits) {
        List<Integer> changed = null;
        for (int i = 0; i < itemBytes.size(); i++) {
            // With room for the padding: responders of RFC 5666 may write it, those of RFC 8166, section 3.4.6.2 do not.
            int padded = (int) Math.min(RpcOffsets.padded(itemBytes.get(i)), limits.maxMessageBytes());
            int bytes = Math.max(SMALLEST_CHUNK_BYTES, padded);
            if (bytes != itemBytes.get(i)) {
                changed = changed == null ? new ArrayList<>(itemBytes) : changed;
                changed.set(i, bytes);
            }
        }
        return changed == null ? itemBytes : changed;
    }

    private static RequestPlan offering(List<Integer> writeChunkBytes, int replyChunkBytes, InlineThreshold threshold,
                                     PeerPolicy policy) throws RpcRdmaException {
        int offerBytes = writeListBytes(writeChunkBytes, policy);
        if (replyChunkBytes > 0) {
            offerBytes += HeaderLayout.writeChunkLength(policy.segmentsOfChunk(replyChunkBytes)) - Integer.BYTES;
        }
        // All of these segments come back in the header of the reply.
        if (!threshold.fitsReceive(threshold.version().chunkFreeLength(), offerBytes)) {
            throw RpcRdmaFailures.tooLarge("chunks for the reply take %d bytes of a header (limit: %d, by the inline threshold)",
                    offerBytes, threshold.receiveBytes() - threshold.version().chunkFreeLength());
        }
        return new RequestPlan(writeChunkBytes, replyChunkBytes, List.of(), false, 0, offerBytes);
    }

    /** The same plan for the reply, and these items in any order. */
    private RequestPlan reading(List<DataItem> items, boolean asLong, int segments) {
        List<DataItem> ascending = items;
        if (items.size() > 1) {
            ascending = new ArrayList<>(items);
            ascending.sort(Comparator.comparingInt(DataItem::position));
        }
        return new RequestPlan(writeChunkBytes, replyChunkBytes, ascending, asLong, segments, offerBytes);
    }

    /** How the call travels. */
    CallRoute route() {
        return isLong ? CallRoute.LONG : readItems.isEmpty() ? CallRoute.INLINE : CallRoute.READ_CHUNK;
    }

    /** How much is to be exposed for the reply. */
    long replyBytes() {
        long bytes = replyChunkBytes;
        for (int i = 0; i < writeChunkBytes.size(); i++) {
            bytes += writeChunkBytes.get(i);
        }
        return bytes;
    }

    /**
     * How much is to be exposed.
     *
     * @param callBytes length of the whole call
     */
    long exposedBytes(int callBytes) {
        long bytes = replyBytes();
        if (isLong) {
            return bytes + callBytes;
        }
        for (int i = 0; i < readItems.size(); i++) {
            bytes += readItems.get(i).length();
        }
        return bytes;
    }

    /**
     * What of the message travels in the Send.
     *
     * @param message the whole of it, without the header; its reference passes to what is returned, unless this throws
     */
    public ByteBuf inlineBody(ByteBufAllocator alloc, ByteBuf message) {
        if (isLong) {
            message.release(); // what is exposed of it has references of its own
            return Unpooled.EMPTY_BUFFER;
        }
        return readItems.isEmpty() ? message : ItemReduction.takeOut(alloc, message, readItems);
    }

    /** Whether anything is to be exposed. */
    public boolean hasChunks() {
        return !writeChunkBytes.isEmpty() || replyChunkBytes > 0 || isLong || !readItems.isEmpty();
    }
}
