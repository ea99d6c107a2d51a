package org.nettyrdma.codec.rpcrdma;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.codec.oncrpc.ReplySpace;

/**
 * Decides how a call travels and what it offers for its reply. It only reckons with sizes: what is exposed in the end is
 * what is needed and no more.
 *
 * <p>A reply that is certain to fit inline is offered nothing. Otherwise eligible results get Write chunks, and what remains
 * gets a Reply chunk if it may not fit. A call that fits goes inline; otherwise its largest eligible arguments go into Read
 * chunks until the rest fits; and if that is not enough, the whole of it goes into a Position Zero Read chunk.
 *
 * @param writeChunkBytes size of the Write chunk for each eligible result; empty if none is offered
 * @param replyChunkBytes size of the Reply chunk, 0 if none is offered
 * @param readItems       the arguments that go into Read chunks, in ascending order
 * @param isLong          whether the whole call goes into a Position Zero Read chunk
 * @param maxSegments     segments that each Read chunk may have, 0 if there is none
 */
record CallPlan(List<Integer> writeChunkBytes, int replyChunkBytes, List<DataItem> readItems, boolean isLong,
                int maxSegments) {

    /** Inline, and inline back: what most calls get. */
    private static final CallPlan INLINE = new CallPlan(List.of(), 0, List.of(), false, 0);

    /** Chunk for a result that can only be empty: no chunk has length 0, since there are responders that fail on it. */
    private static final int SMALLEST_CHUNK_BYTES = 4;

    /**
     * Decides.
     *
     * @param callBytes length of the whole call
     * @param items     its eligible arguments, which have passed {@link DataItems#requireWithin}
     * @param space     how large the reply can get, or {@code null} if nobody knows
     */
    static CallPlan of(int callBytes, List<DataItem> items, ReplySpace space, InlineThreshold threshold, PeerPolicy policy,
                       RpcRdmaLimits limits) throws RpcRdmaException {
        CallPlan reply = planReply(space, threshold, policy, limits);
        int headerBytes = RpcRdmaLayout.CHUNK_FREE_LENGTH + reply.offerBytes();
        int room = threshold.sendBytes() - headerBytes - callBytes;
        if (room >= 0) {
            return reply;
        }
        List<DataItem> readItems = new ArrayList<>();
        for (DataItem item : largestFirst(items)) {
            if (readItems.size() == policy.maxReadChunks() || item.length() == 0) {
                break;
            }
            readItems.add(item);
            room += RpcOffsets.padded(item.length());
            int segments = room / RpcRdmaLayout.READ_ENTRY_LENGTH / readItems.size();
            if (room > 0 && segments > 0) {
                readItems.sort(Comparator.comparingInt(DataItem::position));
                return reply.reading(readItems, false, Math.min(segments, policy.maxSegmentsPerChunk()));
            }
        }
        int segments = (threshold.sendBytes() - headerBytes) / RpcRdmaLayout.READ_ENTRY_LENGTH;
        if (segments < 1) {
            throw RpcRdmaException.tooLarge("header of %d bytes leaves no room for a Read chunk (limit: %d)", headerBytes,
                    threshold.sendBytes());
        }
        return reply.reading(List.of(), true, Math.min(segments, policy.maxSegmentsPerChunk()));
    }

    private static List<DataItem> largestFirst(List<DataItem> items) {
        if (items.size() < 2) {
            return items;
        }
        List<DataItem> sorted = new ArrayList<>(items);
        sorted.sort(Comparator.comparingInt(DataItem::length).reversed());
        return sorted;
    }

    private static CallPlan planReply(ReplySpace space, InlineThreshold threshold, PeerPolicy policy, RpcRdmaLimits limits) {
        if (space == null) {
            return limits.defaultReplyChunkBytes() == 0 ? INLINE : offering(List.of(), limits.defaultReplyChunkBytes());
        }
        long wholeBytes = space.maxReplyBytes();
        for (int itemBytes : space.maxDataItemBytes()) {
            wholeBytes += RpcOffsets.padded(itemBytes);
        }
        if (threshold.fitsReceive(RpcRdmaLayout.CHUNK_FREE_LENGTH, wholeBytes)) {
            return INLINE;
        }
        int chunks = space.maxDataItemBytes().size();
        int headerBytes = RpcRdmaLayout.CHUNK_FREE_LENGTH + chunks * RpcRdmaLayout.writeChunkLength(1);
        boolean restFits = threshold.fitsReceive(headerBytes, space.maxReplyBytes());
        if (chunks == 0 || !restFits && !policy.writeListWithReplyChunk()) {
            // A reply that is larger than what we accept at all will be refused by the responder.
            return offering(List.of(), (int) Math.min(RpcOffsets.padded(wholeBytes), limits.maxMessageBytes()));
        }
        List<Integer> writeChunkBytes = new ArrayList<>(chunks);
        for (int itemBytes : space.maxDataItemBytes()) {
            // With padding, which the responder may but need not write (rfc5666bis-01, section 4.4.5.2).
            long padded = Math.min(RpcOffsets.padded(itemBytes), limits.maxMessageBytes());
            writeChunkBytes.add((int) Math.max(SMALLEST_CHUNK_BYTES, padded));
        }
        long rest = restFits ? 0 : Math.min(RpcOffsets.padded(space.maxReplyBytes()), limits.maxMessageBytes());
        return offering(writeChunkBytes, (int) rest);
    }

    private static CallPlan offering(List<Integer> writeChunkBytes, int replyChunkBytes) {
        return new CallPlan(writeChunkBytes, replyChunkBytes, List.of(), false, 0);
    }

    private CallPlan reading(List<DataItem> items, boolean asLong, int segments) {
        return new CallPlan(writeChunkBytes, replyChunkBytes, items, asLong, segments);
    }

    /** What the offered chunks, of one segment each, add to the header. */
    private int offerBytes() {
        int chunkBytes = RpcRdmaLayout.writeChunkLength(1);
        return writeChunkBytes.size() * chunkBytes + (replyChunkBytes == 0 ? 0 : chunkBytes - Integer.BYTES);
    }

    /** How the call travels. */
    CallRoute route() {
        return isLong ? CallRoute.LONG : readItems.isEmpty() ? CallRoute.INLINE : CallRoute.READ_CHUNK;
    }

    /**
     * How much is to be exposed.
     *
     * @param callBytes length of the whole call
     */
    long exposedBytes(int callBytes) {
        long bytes = replyChunkBytes + (isLong ? callBytes : 0);
        for (int chunkBytes : writeChunkBytes) {
            bytes += chunkBytes;
        }
        if (!isLong) {
            for (DataItem item : readItems) {
                bytes += item.length();
            }
        }
        return bytes;
    }

    /** Whether anything is to be exposed. */
    boolean hasChunks() {
        return !writeChunkBytes.isEmpty() || replyChunkBytes > 0 || isLong || !readItems.isEmpty();
    }
}
