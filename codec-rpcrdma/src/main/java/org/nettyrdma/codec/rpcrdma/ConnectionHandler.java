package org.nettyrdma.codec.rpcrdma;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import java.net.SocketAddress;
import java.util.function.IntSupplier;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.ConnectionProperties;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.Control;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.Malformed;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.TransportError;
import org.nettyrdma.handler.credit.CreditedMessage.Role;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps a connection to one version, and exchanges transport properties (version-two-08, sections 7 and 5.3.4). Stands between
 * the codec and the credit gate, since what it sends and answers itself is outside of the credits.
 *
 * <h2>Version</h2>
 * On a server the first call, or other message of version 2, settles the version; on a client the first message of the server
 * in the version that the client calls in, or its fallback. A message of another version afterwards is an error, which the draft
 * does not name: a call is answered with ERR_VERS and the settled version as the range, the call that a reply belongs to
 * fails, anything else is dropped.
 *
 * <h2>RDMA2_CONNPROP</h2>
 * Each side sends one: a server as soon as it knows that the client speaks version 2, so ahead of its first reply; a client
 * behind the first reply, since until then it has a single message in progress and that is a call (section 7). Its XID
 * is 0, its flag RPCRDMA2_F_RESPONSE is clear, and its credits are what this side asks for in its calls. One
 * that cannot be parsed is answered with an error by a server and dropped by a client, which must not send errors
 * (section 5.3.3).
 *
 * <p>All methods run on the event loop.
 */
final class ConnectionHandler extends ChannelDuplexHandler {

    private static final Logger LOGGER = LoggerFactory.getLogger(ConnectionHandler.class);

    private final RpcRdmaConnection connection;
    private final int wantedCredits;
    private final IntSupplier grantedCredits;
    private final ChunkStatistics statistics;
    /** {@code null} on a server. */
    private final VersionFallbacks fallbacks;
    private SocketAddress server;
    private boolean offered;
    private boolean answered;
    private boolean closing;
    private boolean announced;

    private ConnectionHandler(RpcRdmaConnection connection, int wantedCredits, IntSupplier grantedCredits,
                              ChunkStatistics statistics, VersionFallbacks fallbacks) {
        this.connection = connection;
        this.wantedCredits = wantedCredits;
        this.grantedCredits = grantedCredits;
        this.statistics = statistics;
        this.fallbacks = fallbacks;
    }

    /**
     * For the side that connects.
     *
     * @param wantedCredits what its calls ask for
     * @param fallbacks     the servers that are known not to speak version 2
     */
    static ConnectionHandler client(RpcRdmaConnection connection, int wantedCredits, ChunkStatistics statistics,
                                    VersionFallbacks fallbacks) {
        return new ConnectionHandler(connection, wantedCredits, () -> 0, statistics, fallbacks);
    }

    /**
     * For the side that accepts.
     *
     * @param wantedCredits  what its calls of the reverse direction ask for
     * @param grantedCredits what its answers grant
     */
    static ConnectionHandler server(RpcRdmaConnection connection, int wantedCredits, IntSupplier grantedCredits,
                                    ChunkStatistics statistics) {
        return new ConnectionHandler(connection, wantedCredits, grantedCredits, statistics, null);
    }

    private boolean isServer() {
        return fallbacks == null;
    }

    @Override
    public void connect(ChannelHandlerContext ctx, SocketAddress remote, SocketAddress local, ChannelPromise promise) {
        server = remote;
        if (!isServer() && !connection.isAgreed() && fallbacks.contains(remote)) {
            statistics.increment(Counter.VERSION_FALLBACKS_REMEMBERED);
            connection.agree(RpcRdmaVersion.ONE);
        }
        ctx.connect(remote, local, promise);
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        ctx.fireUserEventTriggered(connection.terms());
        ctx.fireChannelActive();
    }

    @Override
    public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
        if (!answered && msg instanceof RpcRdmaMessage message && message.role() == Role.REQUEST) {
            offered |= message.version() == RpcRdmaVersion.TWO.number();
        }
        ctx.write(msg, promise);
    }

    @Override
    public void close(ChannelHandlerContext ctx, ChannelPromise promise) {
        closing = true;
        ctx.close(promise);
    }

    /** The server has hung up where an answer was due: it may not be able to cope with the version. */
    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        boolean known = connection.isAgreed() && connection.version() == RpcRdmaVersion.TWO;
        if (!isServer() && offered && !answered && !known && !closing && connection.isFallbackPossible()) {
            statistics.increment(Counter.VERSION_OFFERS_LOST);
            fallbacks.remember(server);
        }
        ctx.fireChannelInactive();
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        if (!(msg instanceof RpcRdmaMessage message)) {
            ctx.fireChannelRead(msg);
            return;
        }
        RpcRdmaHeader header = message.chunks() == null ? message.header() : null;
        if (header instanceof Malformed malformed && message.isWithoutCall()) {
            message.release();
            refuse(ctx, malformed);
        } else if (header == null || header instanceof Control) {
            received(ctx, message, message.version() == RpcRdmaVersion.TWO.number() ? RpcRdmaVersion.TWO : RpcRdmaVersion.ONE);
        } else {
            if (header instanceof TransportError && !connection.isAgreed()) {
                connection.agree(RpcRdmaVersion.TWO); // a responder has to know the version to have something else to say
            }
            ctx.fireChannelRead(header instanceof Malformed malformed && malformed.granted() && !mayGrant()
                    ? inPlaceOf(message, new Malformed(malformed.xid(), malformed.version(), malformed.credits(), false, malformed.cause()))
                    : message);
        }
    }

    /**
     * Whether the credits of a message that is not valid count. A client of version 2 keeps to one message at a time until a valid
     * one has come that is no error (version-two-08, section 7).
     */
    private boolean mayGrant() {
        return isServer() || answered || connection.version() == RpcRdmaVersion.ONE;
    }

    /** Releases {@code message}. */
    private static RpcRdmaMessage inPlaceOf(RpcRdmaMessage message, Malformed header) {
        message.release();
        RpcRdmaMessage other = RpcRdmaMessage.of(message.role(), header, Unpooled.EMPTY_BUFFER);
        return message.isInvalidating() ? other.invalidating(message.invalidatedTag()) : other;
    }

    private void received(ChannelHandlerContext ctx, RpcRdmaMessage message, RpcRdmaVersion version) {
        if (!connection.accepts(version, isServer())) {
            refuseVersion(ctx, message);
            return;
        }
        answered |= message.role() == Role.RESPONSE;
        if (!announced && version == RpcRdmaVersion.TWO && (isServer() || answered)) {
            announce(ctx); // first, as what waits for the version goes out when it is settled
        }
        if (message.isControl() && message.header() instanceof ConnectionProperties header) {
            connection.peerProperties(header.properties());
            message.release();
            return;
        }
        if (!connection.isAgreed()) {
            connection.agree(version);
        }
        ctx.fireChannelRead(message);
    }

    private void announce(ChannelHandlerContext ctx) {
        announced = true;
        ctx.writeAndFlush(RpcRdmaMessage.properties(new ConnectionProperties(0, wantedCredits, 0, connection.properties())));
        connection.propertiesSent();
    }

    private void refuseVersion(ChannelHandlerContext ctx, RpcRdmaMessage message) {
        if (message.isWithoutCall()) {
            message.release();
            statistics.increment(Counter.STRAY_MESSAGES_DROPPED);
            return;
        }
        statistics.increment(Counter.MALFORMED_MESSAGES);
        RpcRdmaHeader header = message.header();
        SpokenVersions settled = new SpokenVersions(connection.version(), connection.version());
        ctx.fireChannelRead(inPlaceOf(message, new Malformed(header.xid(), header.version(), header.credits(), mayGrant(),
                RpcRdmaException.version(header.version(), settled))));
    }

    /** The answer goes past the credit gate: what it answers has taken no credit. */
    private void refuse(ChannelHandlerContext ctx, Malformed header) {
        LOGGER.debug("{} refusing a message without a call", ctx.channel(), header.cause());
        if (isServer()) {
            statistics.increment(Counter.CHUNK_ERRORS);
            ctx.writeAndFlush(RpcRdmaMessage.error(Refusal.of(header.xid(), header.version(), header.cause())
                    .withCredits(grantedCredits.getAsInt())));
        }
    }
}
