package org.nettyrdma.codec.rpcrdma.format;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import org.nettyrdma.codec.oncrpc.RpcMessageType;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException;
import org.nettyrdma.codec.rpcrdma.header.ChunkLists;
import org.nettyrdma.codec.rpcrdma.header.ConveyingMessage;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaError;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.ChunkError;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Done;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Malformed;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Msg;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.NoMsg;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.TransportError;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaMessage;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaVersion;
import org.nettyrdma.codec.rpcrdma.shared.ChunkCounters;
import org.nettyrdma.codec.rpcrdma.shared.RpcRdmaFailures;
import org.nettyrdma.handler.credit.CreditedMessage.Role;

/** Reads received messages for the {@link RpcRdmaCodec} of one channel, on its event loop, and says which ones nobody handles. */
public final class RpcRdmaDecoder {

    /**
     * Where calls go both ways, nothing of a shorter message may be used in version 1, whose RPC message tells the direction
     * (RFC 8167, section 4.1). In version 2 the flags do.
     */
    public static final int LEAST_LENGTH_WITH_DIRECTION = HeaderLayout.CHUNK_FREE_LENGTH + HeaderLayout.RPC_PREFIX_LENGTH;

    private final Role inboundRole;
    private final boolean reverse;
    private final FormatTable formats;
    private final RpcRdmaEncoder encoder;
    private final ChunkCounters statistics;
    /** {@code null} where what is obsolete does not come through. */
    private PaddingRemoval padding;

    RpcRdmaDecoder(Role inboundRole, boolean reverse, FormatTable formats, RpcRdmaEncoder encoder, ChunkCounters statistics) {
        this.inboundRole = inboundRole;
        this.reverse = reverse;
        this.formats = formats;
        this.encoder = encoder;
        this.statistics = statistics;
    }

    /** See {@link RpcRdmaCodec#obsoleteTypes}. Before the first message. */
    void obsoleteTypes(PaddingRemoval newPadding) {
        padding = newPadding;
    }

    /**
     * Turns a received message into what goes up the pipeline.
     *
     * @param ctx      of the codec; it writes the refusal of a call that this side does not serve
     * @param received one whole message, whose reference this takes over
     * @return the message, {@code null} if it is not for anybody
     * @throws OutOfMemoryError for instance; {@code received} is released
     */
    RpcRdmaMessage decode(ChannelHandlerContext ctx, ByteBuf received) {
        if (received.readableBytes() < HeaderLayout.FIXED_LENGTH) {
            return drop(received, Counter.SHORT_MESSAGES_DROPPED);
        }
        int start = received.readerIndex();
        HeaderFormat format = formats.ofReceived(received);
        int length = received.readableBytes();
        int type = received.getInt(start + HeaderLayout.TYPE_OFFSET);
        if (isDone(format, received, type)) {
            return decodeDone(format, received);
        }
        Role role = format.roleOf(received, inboundRole);
        try {
            if (!isServed(role)) {
                return dropUnserved(ctx, format, received, role, start);
            }
            if (!format.conveys(type)) {
                RpcRdmaHeader header = format.read(received);
                countUnknown(header.flags());
                return RpcRdmaMessage.of(role, header, received);
            }
            ChunkLists chunks = format.readChunks(received, type);
            if (type != MessageType.RDMA_NOMSG.code() && !isMisnamedNoMsg(format, chunks, received)) {
                role = roleByRpcMessage(format, received, role);
                if (!isServed(role)) {
                    return dropUnserved(ctx, format, received, role, start);
                }
                requireSound(format, received.getInt(start), chunks, received, role);
            } else if (isLongReverseCall(format, chunks)) {
                role = Role.REQUEST;
                requireNoChunks(chunks);
            }
            requireReadListAllowed(format, chunks, role);
            return conveying(ctx.alloc(), format, received, start, chunks, role);
        } catch (RpcRdmaException e) {
            if (reverse && type != MessageType.RDMA_ERROR.code() && length < leastLengthWithDirection(format)) {
                return drop(received, Counter.SHORT_MESSAGES_DROPPED); // to answer a reply could fail a call of the peer
            }
            if ((role == Role.NEITHER || role == Role.CONTROL) && length >= VersionTwoLayout.PREFIX_LENGTH
                    && (format.flagsOf(received, start) & VersionTwoLayout.F_RESPONSE) != 0) {
                return drop(received, Counter.MALFORMED_MESSAGES); // a requester sends no errors (version-two-08, section 5.3.3)
            }
            return malformed(role, type, received, start, e);
        } catch (RuntimeException | Error e) {
            received.release();
            throw e;
        }
    }

    /** Makes a message of the words in front of the chunks, which begin at {@code start}, and of what was read behind them. */
    private RpcRdmaMessage conveying(ByteBufAllocator alloc, HeaderFormat format, ByteBuf received, int start, ChunkLists chunks,
                                     Role role) throws RpcRdmaException {
        int version = format.version().number();
        int xid = received.getInt(start);
        int credits = received.getInt(start + HeaderLayout.CREDITS_OFFSET);
        int type = received.getInt(start + HeaderLayout.TYPE_OFFSET);
        boolean noMsg = type == MessageType.RDMA_NOMSG.code(); // in both versions
        int flags = format.flagsOf(received, start);
        countUnknown(flags);
        ByteBuf body = isPadded(type, chunks, role) ? padding.remove(alloc, received, start) : received;
        if (!ConveyingMessage.canHold(version, flags, role)) {
            long creditWord = Integer.toUnsignedLong(credits);
            RpcRdmaHeader header = noMsg ? new NoMsg(xid, version, creditWord, flags, chunks)
                    : new Msg(xid, version, creditWord, flags, chunks);
            return RpcRdmaMessage.of(role, header, body);
        }
        return new ConveyingMessage(version, xid, flags, chunks, noMsg, role, body).withCredits(credits);
    }

    private void countUnknown(int flags) {
        if (flags != 0 && formats.hasUnknown(flags)) {
            statistics.increment(Counter.UNKNOWN_FLAGS_IGNORED);
        }
    }

    private RpcRdmaMessage malformed(Role role, int type, ByteBuf received, int start, RpcRdmaException cause) {
        statistics.increment(Counter.MALFORMED_MESSAGES);
        int version = received.getInt(start + HeaderLayout.VERSION_OFFSET);
        boolean granted = version != VersionTwoLayout.VERSION || type != MessageType.RDMA_ERROR.code();
        Malformed header = new Malformed(received.getInt(start), version,
                received.getUnsignedInt(start + HeaderLayout.CREDITS_OFFSET), granted, cause);
        received.release();
        return RpcRdmaMessage.of(role, header, Unpooled.EMPTY_BUFFER);
    }

    private static int leastLengthWithDirection(HeaderFormat format) {
        return format.version() == RpcRdmaVersion.ONE ? LEAST_LENGTH_WITH_DIRECTION : VersionTwoLayout.PREFIX_LENGTH;
    }

    /**
     * Answers a call of the reverse direction where that is not served, so that its caller need not wait for a time-out; it has
     * a receive for the answer. Also in version 2, where a server may call before it is told that the client supports no such
     * calls. Below the credit gate, which has no part in it.
     */
    private RpcRdmaMessage dropUnserved(ChannelHandlerContext ctx, HeaderFormat format, ByteBuf received, Role role, int start) {
        if (role == Role.REQUEST) {
            int xid = received.getInt(start);
            RpcRdmaHeader refusal = format.version() == RpcRdmaVersion.ONE ? new ChunkError(xid, HeaderLayout.VERSION, 1)
                    : new TransportError(xid, 1, RpcRdmaError.SYSTEM);
            ctx.writeAndFlush(encoder.encode(ctx.alloc(), RpcRdmaMessage.error(refusal)))
                    .addListener(ChannelFutureListener.CLOSE_ON_FAILURE);
        }
        return drop(received, Counter.STRAY_MESSAGES_DROPPED);
    }

    /** In a version that nobody speaks, 3 may be the type of a call; but not from clients that send RDMA_DONE. */
    private boolean isDone(HeaderFormat format, ByteBuf received, int type) {
        return type == MessageType.RDMA_DONE.code() && format.version() == RpcRdmaVersion.ONE && (padding != null
                || received.getInt(received.readerIndex() + HeaderLayout.VERSION_OFFSET) == HeaderLayout.VERSION);
    }

    /** It has no answer, so one that is wrong is dropped. */
    private RpcRdmaMessage decodeDone(HeaderFormat format, ByteBuf received) {
        if (padding == null || inboundRole != Role.REQUEST) {
            return drop(received, Counter.DONE_MESSAGES_DROPPED);
        }
        try {
            Done header = (Done) format.read(received);
            received.release();
            return RpcRdmaMessage.done(header);
        } catch (RpcRdmaException e) {
            return drop(received, Counter.MALFORMED_MESSAGES);
        }
    }

    private boolean isPadded(int type, ChunkLists chunks, Role role) {
        return padding != null && type == MessageType.RDMA_MSGP.code() && role == Role.REQUEST && chunks.readChunks().isEmpty();
    }

    /** Replies have no Read list (RFC 8166, section 4.3.1). */
    private void requireReadListAllowed(HeaderFormat format, ChunkLists chunks, Role role) throws RpcRdmaException {
        boolean allowed = padding != null && format.version() == RpcRdmaVersion.ONE;
        if (!allowed && role == Role.RESPONSE && !chunks.readChunks().isEmpty()) {
            throw RpcRdmaFailures.malformed("reply with a Read list, which only the legacy profile fetches");
        }
    }

    private boolean isServed(Role role) {
        return role == inboundRole || role == Role.NEITHER || role == Role.CONTROL || reverse;
    }

    /** What the RPC message says about its direction; in version 2 the header has said the same. */
    private static Role roleByRpcMessage(HeaderFormat format, ByteBuf body, Role role) throws RpcRdmaException {
        if (body.readableBytes() < HeaderLayout.RPC_PREFIX_LENGTH) {
            throw RpcRdmaFailures.malformed("RPC message of %d bytes", body.readableBytes());
        }
        RpcMessageType rpcType = RpcMessageType.peek(body);
        Role rpcRole = switch (rpcType) {
            case CALL -> Role.REQUEST;
            case REPLY -> Role.RESPONSE;
            case UNKNOWN -> throw RpcRdmaFailures.notRpc("message", body);
        };
        if (format.version() == RpcRdmaVersion.TWO && rpcRole != role) {
            throw RpcRdmaFailures.malformed("RPC message type %d in a message that is a %s by its flags", rpcType.code(),
                    role == Role.REQUEST ? "call" : "reply");
        }
        return rpcRole;
    }

    private void requireSound(HeaderFormat format, int xid, ChunkLists chunks, ByteBuf body, Role role) throws RpcRdmaException {
        int rpcXid = body.getInt(body.readerIndex());
        if (rpcXid != xid) {
            throw RpcRdmaFailures.malformed("XID %08x in the header, %08x in the RPC message", xid, rpcXid);
        }
        if (role != inboundRole && format.version() == RpcRdmaVersion.ONE) {
            requireNoChunks(chunks);
        }
    }

    private static void requireNoChunks(ChunkLists chunks) throws RpcRdmaException {
        if (!chunks.isEmpty()) {
            throw RpcRdmaFailures.malformed("chunks in a message of the reverse direction");
        }
    }

    /**
     * Whether this is an RDMA_NOMSG of version 1 that is a call to a client. It does not say so, but replies have Position Zero
     * Read chunks in the legacy profile only. At a server each is a call, which has to be answered.
     */
    private boolean isLongReverseCall(HeaderFormat format, ChunkLists chunks) {
        return reverse && inboundRole == Role.RESPONSE && format.version() == RpcRdmaVersion.ONE && padding == null
                && chunks.hasPositionZeroChunk();
    }

    /** Whether this is an RDMA_NOMSG of version 1 under the name of RDMA_MSG, which Linux takes too. */
    private boolean isMisnamedNoMsg(HeaderFormat format, ChunkLists chunks, ByteBuf body) {
        return !body.isReadable() && inboundRole == Role.REQUEST && format.version() == RpcRdmaVersion.ONE
                && chunks.hasPositionZeroChunk();
    }

    private RpcRdmaMessage drop(ByteBuf received, Counter counter) {
        received.release();
        statistics.increment(counter);
        return null;
    }
}
