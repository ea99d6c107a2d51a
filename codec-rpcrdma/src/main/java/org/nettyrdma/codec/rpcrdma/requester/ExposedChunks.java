package org.nettyrdma.codec.rpcrdma.requester;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import java.util.List;
import org.nettyrdma.channel.ExposedMemory;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.header.ChunkLists;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaMessage;
import org.nettyrdma.codec.rpcrdma.shared.ChunkCounters;
import org.nettyrdma.codec.rpcrdma.shared.InvalidationPolicy;
import org.nettyrdma.codec.rpcrdma.shared.ShortLists;

/**
 * The memory that one call has opened to the peer, each piece for that call only and with the one right that it needs: arguments
 * may be read, places for results may be written. {@link #withdraw} closes it again; nobody may look at the results before.
 * {@link ChunkExposer} makes it.
 */
public final class ExposedChunks {

    private final Channel channel;
    private final ChunkCounters statistics;
    private final InvalidationPolicy invalidation;

    // Lists of one element, as nearly all calls have one chunk of one segment.
    private List<ExposedMemory> exposed = List.of();
    private List<ByteBuf> writeSinks = List.of();
    private ByteBuf replySink;
    private ChunkLists chunks = ChunkLists.EMPTY;
    private boolean withdrawn;
    /** {@code null} where nobody records, or the memory is still needed. */
    private LateWithdrawalEvent late;

    ExposedChunks(Channel channel, ChunkCounters statistics, InvalidationPolicy invalidation) {
        this.channel = channel;
        this.statistics = statistics;
        this.invalidation = invalidation;
    }

    /** Takes over a piece of open memory; returns where it is. */
    RemoteSegment add(ExposedMemory memory) {
        exposed = ShortLists.append(exposed, memory);
        return memory.segment();
    }

    /** Takes over the reference of the place for a result. */
    void addWriteSink(ByteBuf sink) {
        writeSinks = ShortLists.append(writeSinks, sink);
    }

    /** Takes over the reference of the place for a whole reply. */
    void setReplySink(ByteBuf sink) {
        replySink = sink;
    }

    /** All is open that is going to be. */
    void opened(ChunkLists offered) {
        chunks = offered.withInvalidateHandle(invalidation.handleToName(offered));
        statistics.add(Counter.EXPOSURES, exposed.size());
    }

    /** The chunks to tell the peer of. */
    public ChunkLists chunks() {
        return chunks;
    }

    /**
     * Whether the peer has taken of this call exactly what the reply says, and that is what it may, before {@link #withdraw}.
     *
     * @param reply the reply to this call; it may have invalidated one handle of the call
     */
    boolean isInvalidatedBy(RpcRdmaMessage reply) {
        if (reply.isInvalidating() && !invalidation.allows(chunks, reply.invalidatedTag())) {
            return false;
        }
        boolean found = !reply.isInvalidating();
        for (int i = 0; i < exposed.size(); i++) {
            ExposedMemory piece = exposed.get(i);
            boolean named = reply.isInvalidating() && piece.segment().steeringTag() == reply.invalidatedTag();
            if (named != piece.isInvalidated()) {
                return false;
            }
            found |= named;
        }
        return found;
    }

    /**
     * Whether what a reply says it has taken of this call is what it may, where {@link #withdraw} may have been faster, of
     * which the peer did not know.
     */
    boolean mayBeInvalidatedBy(RpcRdmaMessage reply) {
        return !reply.isInvalidating() || invalidation.allows(chunks, reply.invalidatedTag())
                && exposed.stream().anyMatch(piece -> piece.segment().steeringTag() == reply.invalidatedTag());
    }

    /** Nobody waits for the reply any more, though the memory stays open. */
    void givenUp() {
        late = LateWithdrawalEvent.begun(true);
    }

    private void ended(Runnable then) {
        if (late != null) {
            late.end(); // before it is asked: until then it has lasted no time
            if (late.shouldCommit()) {
                late.peer = String.valueOf(channel.remoteAddress());
                late.bytes = exposed.stream().mapToLong(piece -> piece.segment().length()).sum();
                late.commit();
            }
            late = null;
        }
        then.run();
    }

    /**
     * Closes the memory to the peer. May be called again, with something else to do then.
     *
     * @param then runs when the peer can touch none of it any more, before this method returns if that is so already; also when
     *             the connection has ended with a device that keeps the peer's access, which {@link #isWithdrawn} tells
     */
    public void withdraw(Runnable then) {
        if (isWithdrawn()) {
            ended(then);
            return;
        }
        if (!withdrawn && late == null) {
            late = LateWithdrawalEvent.begun(false);
        }
        int[] outstanding = {1}; // one for this loop, so that it cannot end before all are asked
        ChannelFutureListener oneLess = future -> {
            if (--outstanding[0] == 0) {
                ended(then);
            }
        };
        for (int i = 0; i < exposed.size(); i++) {
            ExposedMemory piece = exposed.get(i);
            if (!piece.isInvalidated()) {
                if (!withdrawn) {
                    statistics.increment(Counter.LOCAL_INVALIDATIONS);
                }
                ChannelFuture invalidated = piece.invalidate();
                if (!invalidated.isDone()) {
                    outstanding[0]++;
                    invalidated.addListener(oneLess);
                }
            }
        }
        withdrawn = true;
        if (--outstanding[0] == 0) {
            ended(then);
        }
    }

    /** Whether the peer can touch none of the memory any more and nothing is to be done about it: the reply has seen to it. */
    boolean isWithdrawn() {
        for (int i = 0; i < exposed.size(); i++) {
            if (!exposed.get(i).isInvalidated()) {
                return false;
            }
        }
        return true;
    }

    /** The memory that was offered as Write chunks, in their order; only after {@link #withdraw}. */
    List<ByteBuf> writeSinks() {
        return writeSinks;
    }

    /** The memory that was offered as Reply chunk; only after {@link #withdraw}. */
    ByteBuf replySink() {
        return replySink;
    }

    /** Drops the references on the places for results. */
    public void releaseSinks() {
        for (int i = 0; i < writeSinks.size(); i++) {
            writeSinks.get(i).release();
        }
        writeSinks = List.of();
        if (replySink != null) {
            replySink.release();
            replySink = null;
        }
    }
}
