package org.nettyrdma.codec.rpcrdma.connection;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import org.nettyrdma.codec.oncrpc.AcceptStatus;
import org.nettyrdma.codec.oncrpc.RpcMessageType;
import org.nettyrdma.codec.oncrpc.RpcReplyHeader;
import org.nettyrdma.codec.oncrpc.RpcReplyReplacedException;
import org.nettyrdma.codec.oncrpc.transport.DemandedRead;
import org.nettyrdma.codec.oncrpc.transport.RpcCallFailure;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException;
import org.nettyrdma.codec.rpcrdma.header.ChunkLists;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Malformed;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Msg;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.TransportError;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.VersionError;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaMessage;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaVersion;
import org.nettyrdma.codec.rpcrdma.shared.ChunkCounters;
import org.nettyrdma.codec.rpcrdma.shared.InlineThreshold;
import org.nettyrdma.codec.rpcrdma.shared.RpcOffsets;
import org.nettyrdma.codec.rpcrdma.shared.RpcRdmaFailures;
import org.nettyrdma.handler.credit.CreditedMessage.Role;
import org.nettyrdma.peer.PeerLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The calls from server to client and their replies in version 1 (RFC 8167). They share the connection
 * with the forward direction and nothing else: no chunks, an XID space of their own, credits of their own. Stands above the chunk
 * handler, which lets them pass, so that neither knows of the other's messages.
 *
 * <p>A reverse message has to fit into one Send. A call that does not is refused before it is sent. A reply that does not
 * becomes one with SYSTEM_ERR, and the application's write fails with {@link RpcReplyReplacedException}: the call is answered,
 * and the connection lives. In version 2, where such calls can have chunks, everything passes this handler, and chunk handlers
 * with the roles of client and server exchanged stand above it. All methods run on the event loop.
 */
public final class ReverseDirectionHandler extends ChannelDuplexHandler {

    private static final Logger LOGGER = LoggerFactory.getLogger(ReverseDirectionHandler.class);

    /** What of the outbound messages belongs to the reverse direction: the calls of a server, the replies of a client. */
    private final RpcMessageType outbound;
    private final ChunkCounters statistics;
    private final NegotiatedConnection connection;

    public ReverseDirectionHandler(ChunkCounters statistics, NegotiatedConnection connection) {
        this.outbound = connection.isServer() ? RpcMessageType.CALL : RpcMessageType.REPLY;
        this.statistics = statistics;
        this.connection = connection;
    }

    @Override
    public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
        ByteBuf message = RpcOffsets.message(msg);
        if (message == null || RpcMessageType.peek(message) != outbound || connection.version() != RpcRdmaVersion.ONE) {
            ctx.write(msg, promise);
            return;
        }
        try {
            if (outbound == RpcMessageType.CALL) {
                writeCall(ctx, message, promise);
            } else {
                writeReply(ctx, message, promise);
            }
        } catch (IOException | RuntimeException | Error e) { // also no memory for the reply that says so
            message.release();
            promise.tryFailure(e);
        }
    }

    private void writeCall(ChannelHandlerContext ctx, ByteBuf call, ChannelPromise promise) throws IOException {
        requireFits(ctx, call);
        statistics.increment(Counter.REVERSE_CALLS);
        ctx.write(RpcRdmaMessage.call(header(call), call), promise);
    }

    private void writeReply(ChannelHandlerContext ctx, ByteBuf reply, ChannelPromise promise) throws IOException {
        RpcRdmaMessage message;
        ChannelPromise answered = promise;
        try {
            requireFits(ctx, reply);
            message = RpcRdmaMessage.reply(header(reply), reply);
        } catch (RpcRdmaException e) {
            LOGGER.debug("{} answering with SYSTEM_ERR: {}", ctx.channel(), e.getMessage());
            message = systemError(ctx, reply);
            answered = RpcReplyReplacedException.fail(promise, e);
            reply.release(); // last, as whoever fails before releases it
        }
        statistics.increment(Counter.REVERSE_REPLIES);
        ctx.write(message, answered);
    }

    private RpcRdmaMessage systemError(ChannelHandlerContext ctx, ByteBuf reply) {
        ByteBuf answer = ctx.alloc().buffer(RpcReplyHeader.SUCCESS_BYTES);
        new RpcReplyHeader.Accepted(RpcOffsets.word(reply, 0), AcceptStatus.SYSTEM_ERR).write(answer);
        return RpcRdmaMessage.reply(header(answer), answer);
    }

    private void requireFits(ChannelHandlerContext ctx, ByteBuf message) throws IOException {
        if (!ctx.channel().isActive()) {
            throw new ClosedChannelException();
        }
        InlineThreshold threshold = connection.threshold();
        if (!threshold.fitsSend(ChunkLists.EMPTY, message.readableBytes())) {
            statistics.increment(Counter.REVERSE_MESSAGES_TOO_LARGE);
            throw RpcRdmaFailures.tooLarge("reverse %s of %d bytes (expected: at most %d by the inline threshold, as it cannot "
                    + "have chunks)",
                    outbound == RpcMessageType.CALL ? "call" : "reply", message.readableBytes(),
                    threshold.sendBytes() - threshold.version().chunkFreeLength());
        }
    }

    private Msg header(ByteBuf message) {
        return connection.terms().version().msg(RpcOffsets.word(message, 0), ChunkLists.EMPTY);
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        if (!(msg instanceof RpcRdmaMessage message) || connection.version() != RpcRdmaVersion.ONE) {
            ctx.fireChannelRead(msg);
            return;
        }
        boolean call = message.role() == Role.REQUEST;
        if (message.header() instanceof Msg) {
            statistics.increment(call ? Counter.REVERSE_CALLS : Counter.REVERSE_REPLIES);
            ctx.fireChannelRead(message.content()); // its reference with it
            return;
        }
        message.release();
        RpcRdmaException cause = cause(message.header());
        if (call) {
            PeerLog.warn(LOGGER, ctx.channel(), "refusing reverse call {}: {}", Integer.toHexString(message.xid()), cause);
            statistics.increment(Counter.CHUNK_ERRORS);
            ctx.writeAndFlush(RpcRdmaMessage.error(Refusal.of(message.xid(), message.header().version(), cause)))
                    .addListener(ChannelFutureListener.CLOSE_ON_FAILURE); // its caller would wait in vain
            DemandedRead.restore(ctx);
        } else {
            ctx.fireUserEventTriggered(new RpcCallFailure(message.xid(), cause));
        }
    }

    /** Why there is no message in what was received. */
    private RpcRdmaException cause(RpcRdmaHeader header) {
        if (header instanceof Malformed malformed) {
            return malformed.cause();
        }
        if (header instanceof TransportError error) {
            statistics.increment(Counter.CHUNK_ERRORS);
            return RpcRdmaFailures.refused(error.error());
        }
        boolean version = header instanceof VersionError;
        statistics.increment(version ? Counter.VERSION_ERRORS : Counter.CHUNK_ERRORS);
        return RpcRdmaFailures.refused("reverse call refused with %s", version ? "ERR_VERS" : "ERR_CHUNK");
    }
}
