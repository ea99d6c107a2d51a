package org.nettyrdma.codec.rpcrdma.requester;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import java.util.List;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.codec.oncrpc.ReplySpace;
import org.nettyrdma.codec.rpcrdma.CallObserver;
import org.nettyrdma.codec.rpcrdma.ReplyRoute;
import org.nettyrdma.codec.rpcrdma.header.ChunkLists;
import org.nettyrdma.codec.rpcrdma.header.WriteChunk;
import org.nettyrdma.codec.rpcrdma.shared.BindingTable;
import org.nettyrdma.codec.rpcrdma.shared.RelayPromise;
import org.nettyrdma.codec.rpcrdma.shared.RpcOffsets;

/**
 * What a requester keeps of a call until its reply is here. It is the promise of the call's write as well.
 * {@link RequesterCallTable} makes one of these serve many calls, one after the other; {@link #begin} starts each.
 */
public final class RequesterCall extends RelayPromise {

    private enum State {
        /** The caller waits for the reply. */
        AWAITED,
        /** Nobody does; what the call exposes stays open to the peer until the reply is here. */
        ABANDONED,
        /** Nobody does; what the call has exposed is being withdrawn, or is withdrawn already. */
        WITHDRAWN
    }

    private final RequesterCallTable owner;
    private int xid;
    private int program;
    private int version;
    private int procedure;
    /** The whole call until it is sent. */
    private ByteBuf unsent;
    private boolean keep;
    private ExposedChunks exposure;
    private long exposedBytes;
    private RequestPlan plan;
    private List<DataItem> items;
    private ReplySpace replySpace;
    /** Where the length of its reply is noted, {@code null} if nobody needs it. */
    private ReplyHistory.Record history;
    /** A reference of its own, so that the call can be sent again; {@code null} if it is not going to be, or not any more. */
    private ByteBuf kept;
    private boolean written;
    private boolean replyFetched;
    private State state;

    RequesterCall(RequesterCallTable owner, ChannelHandlerContext ctx) {
        super(ctx);
        this.owner = owner;
    }

    /**
     * Begins a call.
     *
     * @param message  the whole call; its reference stays with whoever sends it
     * @param newPlan  how it travels
     * @param newItems its eligible arguments
     * @param space    how large its reply can get, or {@code null} if nobody knows
     * @param caller   the promise of whoever makes the call, told when it is written
     * @param newKeep  whether it is kept until its reply is here
     */
    RequesterCall begin(ByteBuf message, RequestPlan newPlan, List<DataItem> newItems, ReplySpace space, ChannelPromise caller,
            boolean newKeep) {
        begin(caller);
        xid = RpcOffsets.word(message, 0);
        boolean complete = RpcOffsets.hasCallHeader(message);
        program = complete ? RpcOffsets.word(message, RpcOffsets.PROGRAM) : 0;
        version = complete ? RpcOffsets.word(message, RpcOffsets.VERSION) : 0;
        procedure = complete ? RpcOffsets.word(message, RpcOffsets.PROCEDURE) : 0;
        unsent = message;
        keep = newKeep;
        exposure = null;
        exposedBytes = 0;
        plan = newPlan;
        items = newItems;
        replySpace = space;
        history = null;
        kept = null;
        written = false;
        replyFetched = false;
        state = State.AWAITED;
        return this;
    }

    /** Makes the call travel in another way than it began with. */
    RequesterCall replan(RequestPlan newPlan) {
        plan = newPlan;
        return this;
    }

    /**
     * The call is about to be written.
     *
     * @param newExposure the memory it opens to the peer, or {@code null} if none
     * @param bytes       how much memory it was admitted with
     */
    void sending(ExposedChunks newExposure, long bytes) {
        exposure = newExposure;
        exposedBytes = bytes;
        kept = keep ? unsent.retain() : null;
        unsent = null;
    }

    /** The whole call until it is {@linkplain #sending sent}. */
    ByteBuf unsent() {
        return unsent;
    }

    /** Whether it is kept until its reply is here. */
    boolean isKept() {
        return keep;
    }

    /** The promise of whoever makes the call. */
    ChannelPromise caller() {
        return asker();
    }

    /**
     * Ends a call whose reply was delivered, and which nobody has withdrawn.
     *
     * @return whether another call may begin: not if the write of this one may still tell its end
     */
    boolean end() {
        exposure = null;
        return written && endRelay();
    }

    public int xid() {
        return xid;
    }

    ChunkLists chunks() {
        return exposure == null ? ChunkLists.EMPTY : exposure.chunks();
    }

    /** The memory that is open to the peer, {@code null} if none. */
    ExposedChunks exposure() {
        return exposure;
    }

    /** How long each Write chunk is that was offered. */
    List<Integer> writeChunkBytes() {
        return plan.writeChunkBytes();
    }

    /** The memory that was offered as Reply chunk, {@code null} if none was. */
    ByteBuf replySink() {
        return exposure == null ? null : exposure.replySink();
    }

    /**
     * What the call offered for its reply, and who can change that. How much the responder would have needed it cannot say
     * in version 1.
     *
     * @param inlineBytes how much of a reply fits inline
     */
    String offer(int inlineBytes) {
        StringBuilder text = new StringBuilder("it offered ");
        for (WriteChunk chunk : chunks().writeChunks()) {
            text.append("a Write chunk of ").append(chunk.lengthBytes()).append(" bytes, ");
        }
        WriteChunk replyChunk = chunks().replyChunk();
        if (replyChunk == null) {
            text.append("no Reply chunk, ");
        } else {
            text.append("a Reply chunk of ").append(replyChunk.lengthBytes()).append(" bytes, ");
        }
        text.append(inlineBytes).append(" bytes inline; ");
        return text.append(replySpace == null
                ? "nobody said how large the reply can get, and it was too large, or memory was short and all replies of this "
                        + "kind had been smaller: say it by RpcRequest.setReplySpace or an UpperLayerBinding, or raise "
                        + "RpcRdmaLimits.maxMessageBytes or ResourceLimits.maxConnectionBytes"
                : "the request or its UpperLayerBinding says that the reply is within " + replySpace).toString();
    }

    /** How much memory the call was admitted with, in bytes. */
    long exposedBytes() {
        return exposedBytes;
    }

    RequestPlan plan() {
        return plan;
    }

    List<DataItem> items() {
        return items;
    }

    /** How large the reply can get, {@code null} if nobody knows. */
    ReplySpace replySpace() {
        return replySpace;
    }

    /** Nobody has said how large the reply can get, so that its length is to be noted. */
    void noteReply(ReplyHistory.Record record) {
        history = record;
    }

    /** Notes that a reply of this length has come. */
    void replied(int replyBytes) {
        if (history != null) {
            history.replied(replyBytes);
        }
    }

    /** Notes that the responder has refused the call, for which the room that it offered may have been too small. */
    void refused() {
        if (history != null) {
            history.outgrown();
        }
    }

    /** The whole call if it was kept, {@code null} if not; its reference stays with this. */
    ByteBuf message() {
        return kept;
    }

    /** The whole call, which was kept, with its reference. */
    ByteBuf takeMessage() {
        ByteBuf message = kept;
        kept = null;
        return message;
    }

    void releaseMessage() {
        if (kept != null) {
            takeMessage().release();
        }
    }

    /** Nobody waits for the reply any more. */
    void abandon() {
        state = State.ABANDONED;
        if (exposure != null) {
            exposure.givenUp();
        }
    }

    /** Whether nobody waits for the reply. */
    boolean isAbandoned() {
        return state != State.AWAITED;
    }

    /** What a call exposed that was abandoned does not stay open for the reply. */
    void withdraw() {
        state = State.WITHDRAWN;
    }

    /** What could not be withdrawn for want of memory stays open until the connection ends. */
    void stayOpen() {
        state = State.ABANDONED;
    }

    /** Whether its reply is to be dropped, as the memory that it is in was withdrawn. */
    boolean isWithdrawn() {
        return state == State.WITHDRAWN;
    }

    List<DataItem> itemsOf(ByteBuf reducedReply, BindingTable bindings, List<Integer> placedBytes) {
        return bindings.itemsOfReducedReply(program, version, procedure, reducedReply, placedBytes);
    }

    /** The reply came in Read chunks, at least in part. */
    public void replyFetched() {
        replyFetched = true;
    }

    boolean isReplyFetched() {
        return replyFetched;
    }

    void replied(CallObserver observer, ReplyRoute replyRoute) {
        observer.replied(program, version, procedure, plan.route(), replyRoute);
    }

    @Override
    protected void written(Throwable cause) {
        if (cause == null) {
            written = true;
        } else {
            owner.notWritten(this);
        }
    }
}
