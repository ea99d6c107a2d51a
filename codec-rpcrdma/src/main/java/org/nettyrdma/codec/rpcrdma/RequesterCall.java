package org.nettyrdma.codec.rpcrdma;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import java.util.List;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.codec.oncrpc.ReplySpace;

/** What a requester keeps of a call until its reply is here. Listens to the write of the call. */
final class RequesterCall implements ChannelFutureListener {

    private final RequesterCalls owner;
    private final int xid;
    private final int program;
    private final int version;
    private final int procedure;
    private final CallExposure exposure;
    private final long exposedBytes;
    private final CallRoute route;
    private final ReplySpace replySpace;
    private boolean replyFetched;
    private boolean abandoned;

    /**
     * @param message      the whole call
     * @param exposure     the memory it opens to the peer, or {@code null} if none
     * @param exposedBytes how much that is
     * @param route        how it travels
     * @param replySpace   how large its reply can get, or {@code null} if nobody said
     */
    RequesterCall(RequesterCalls owner, ByteBuf message, CallExposure exposure, long exposedBytes, CallRoute route,
                  ReplySpace replySpace) {
        this.owner = owner;
        this.xid = RpcOffsets.word(message, 0);
        boolean complete = RpcOffsets.hasCallHeader(message);
        this.program = complete ? RpcOffsets.word(message, RpcOffsets.PROGRAM) : 0;
        this.version = complete ? RpcOffsets.word(message, RpcOffsets.VERSION) : 0;
        this.procedure = complete ? RpcOffsets.word(message, RpcOffsets.PROCEDURE) : 0;
        this.exposure = exposure;
        this.exposedBytes = exposedBytes;
        this.route = route;
        this.replySpace = replySpace;
    }

    int xid() {
        return xid;
    }

    ChunkLists chunks() {
        return exposure == null ? ChunkLists.EMPTY : exposure.chunks();
    }

    /** The memory that is open to the peer, {@code null} if none. */
    CallExposure exposure() {
        return exposure;
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
                ? "nobody said how large the reply can get: say it by RpcRequest.setReplySpace or an UpperLayerBinding, or "
                        + "raise RpcRdmaLimits.defaultReplyChunkBytes"
                : "the request or its UpperLayerBinding says that the reply is within " + replySpace).toString();
    }

    /** How much memory the call was admitted with, in bytes. */
    long exposedBytes() {
        return exposedBytes;
    }

    /** Nobody waits for the reply any more. */
    void abandon() {
        abandoned = true;
    }

    boolean isAbandoned() {
        return abandoned;
    }

    List<DataItem> itemsOf(ByteBuf reducedReply, UpperLayerBindings bindings, List<Integer> placedBytes) {
        return bindings.itemsOfReducedReply(program, version, procedure, reducedReply, placedBytes);
    }

    /** The reply came in Read chunks, at least in part. */
    void replyFetched() {
        replyFetched = true;
    }

    boolean isReplyFetched() {
        return replyFetched;
    }

    void replied(CallObserver observer, ReplyRoute replyRoute) {
        observer.replied(program, version, procedure, route, replyRoute);
    }

    @Override
    public void operationComplete(ChannelFuture write) {
        if (!write.isSuccess()) {
            owner.notWritten(this);
        }
    }
}
