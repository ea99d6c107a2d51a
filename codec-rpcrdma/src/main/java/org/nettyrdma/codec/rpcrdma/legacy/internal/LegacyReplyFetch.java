package org.nettyrdma.codec.rpcrdma.legacy.internal;

import static org.nettyrdma.codec.rpcrdma.shared.RpcRdmaFailures.malformed;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.nettyrdma.codec.oncrpc.RpcMessageType;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException;
import org.nettyrdma.codec.rpcrdma.RpcRdmaLimits;
import org.nettyrdma.codec.rpcrdma.header.ChunkLists;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Done;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Malformed;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Msg;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaMessage;
import org.nettyrdma.codec.rpcrdma.header.WriteChunk;
import org.nettyrdma.codec.rpcrdma.requester.ReplyFetch;
import org.nettyrdma.codec.rpcrdma.requester.RequesterCall;
import org.nettyrdma.codec.rpcrdma.responder.ReadChunkFetch;
import org.nettyrdma.codec.rpcrdma.shared.ChunkCounters;
import org.nettyrdma.codec.rpcrdma.shared.ConnectionParts;
import org.nettyrdma.codec.rpcrdma.shared.RpcOffsets;
import org.nettyrdma.codec.rpcrdma.shared.RpcRdmaFailures;

/**
 * Fetches the replies with Read chunks that the requester of one connection gets, and ends each with RDMA_DONE
 * (draft-ietf-nfsv4-rpcrdma-02, sections 3.6 and 3.8). A reply that cannot be fetched because it breaks a rule or a limit
 * fails its call and is ended with RDMA_DONE too, as the responder may free its memory. A read that fails ends the
 * connection. Event loop only.
 */
public final class LegacyReplyFetch implements ReplyFetch, ReadChunkFetch.Owner {

    private final ChannelHandlerContext ctx;
    private final RpcRdmaLimits limits;
    private final ChunkCounters statistics;
    private final ReplyFetch.Owner owner;
    private final ReadChunkFetchQueue fetches;
    private final Map<ReadChunkFetch, RequesterCall> calls = new IdentityHashMap<>();
    private boolean closed;

    public LegacyReplyFetch(ChannelHandlerContext ctx, ConnectionParts parts, ReplyFetch.Owner owner) {
        this.ctx = ctx;
        this.limits = parts.limits();
        this.statistics = parts.statistics();
        this.owner = owner;
        this.fetches = new ReadChunkFetchQueue(parts.resources().maxConnectionBytes());
    }

    @Override
    public void fetch(RequesterCall call, RpcRdmaMessage reply) {
        try {
            check(reply);
        } catch (RpcRdmaException e) {
            reply.release();
            sendDone(reply.xid());
            refuse(call, reply, e);
            return;
        }
        ReadChunkFetch fetch;
        try {
            fetch = new ReadChunkFetch(ctx, reply, this);
            calls.put(fetch, call);
        } catch (RuntimeException | Error e) { // no memory, for instance: nothing would end the call
            reply.release();
            lost(call, e);
            return;
        }
        statistics.add(Counter.READ_CHUNK_BYTES, fetch.lengthBytes());
        try {
            fetches.add(fetch);
        } catch (RuntimeException | Error e) { // no memory to let it wait
            if (calls.remove(fetch) == null) { // it has run and ended, and what came of it has failed
                throw e;
            }
            lost(call, e);
            return;
        }
        ctx.flush();
    }

    /** Nothing is allocated before this has been passed. */
    private void check(RpcRdmaMessage reply) throws RpcRdmaException {
        ChunkLists chunks = reply.chunks();
        boolean positionZero = chunks.hasPositionZeroChunk();
        if (reply.isNoMsg() != positionZero) {
            throw malformed("reply by %s %s a Position Zero Read chunk", reply.isNoMsg() ? "RDMA_NOMSG" : "RDMA_MSG",
                    positionZero ? "with" : "without");
        }
        if (chunks.replyChunk() != null && chunks.replyChunk().lengthBytes() > 0) {
            throw malformed("reply with a Read list and %d bytes in the Reply chunk", chunks.replyChunk().lengthBytes());
        }
        // Positions count bytes of the whole reply, so placed results before them would have to be found first.
        if (!positionZero || chunks.readChunks().size() > 1) {
            for (WriteChunk chunk : chunks.writeChunks()) {
                if (chunk.lengthBytes() > 0) {
                    throw malformed("reply with results both in Read chunks and in Write chunks");
                }
            }
        }
        ReadChunkFetch.checkReply(chunks, reply.content().readableBytes(), limits.maxMessageBytes());
    }

    @Override
    public void fetchEnded(ReadChunkFetch fetch) {
        RequesterCall call = calls.remove(fetch);
        if (closed || fetch.failure() != null) {
            fetch.release();
            if (!closed) {
                lost(call, fetch.failure());
            }
            return;
        }
        fetches.ended(fetch);
        RpcRdmaMessage reply = fetch.message();
        ByteBuf message = null;
        try {
            message = fetch.assemble();
            sendDone(reply.xid()); // flushes what the queue has started, too
        } catch (RuntimeException | Error e) { // no memory, for instance: the caller would wait for the time-out
            if (message == null) {
                fetch.release();
            } else {
                message.release();
            }
            lost(call, e);
            return;
        }
        // The codec has checked this for messages that came inline.
        if (RpcMessageType.peek(message) != RpcMessageType.REPLY || RpcOffsets.word(message, 0) != reply.xid()) {
            message.release();
            refuse(call, reply, malformed("Position Zero Read chunk holds no reply with XID %08x", reply.xid()));
        } else {
            passOn(call, reply, message);
        }
        ctx.fireChannelReadComplete();
    }

    private void passOn(RequesterCall call, RpcRdmaMessage reply, ByteBuf message) {
        RpcRdmaMessage whole;
        try {
            ChunkLists rest = new ChunkLists(List.of(), reply.chunks().writeChunks(), reply.chunks().replyChunk());
            Msg header = new Msg(reply.xid(), reply.credits(), rest.isEmpty() ? ChunkLists.EMPTY : rest);
            whole = RpcRdmaMessage.reply(header, message);
        } catch (RuntimeException | Error e) { // no memory, for instance
            message.release();
            lost(call, e);
            return;
        }
        call.replyFetched();
        owner.replied(call, whole);
    }

    private void lost(RequesterCall call, Throwable cause) {
        owner.lost(call);
        if (ctx.channel().isActive()) { // not closed by this side
            try {
                ctx.fireExceptionCaught(RpcRdmaFailures.connection("Read chunk of reply %08x cannot be fetched: %s", call.xid(),
                        cause));
            } finally { // without memory to tell why
                ctx.close();
            }
        }
    }

    private void refuse(RequesterCall call, RpcRdmaMessage reply, RpcRdmaException cause) {
        statistics.increment(Counter.MALFORMED_MESSAGES);
        Malformed malformed = new Malformed(reply.xid(), reply.version(), reply.credits(), true, cause);
        owner.replied(call, RpcRdmaMessage.reply(malformed, Unpooled.EMPTY_BUFFER));
    }

    private void sendDone(int xid) {
        statistics.increment(Counter.DONE_MESSAGES);
        ctx.writeAndFlush(RpcRdmaMessage.done(new Done(xid, 0)));
    }

    @Override
    public void close() {
        closed = true;
        calls.values().forEach(owner::lost);
        calls.clear();
        fetches.close();
    }
}
