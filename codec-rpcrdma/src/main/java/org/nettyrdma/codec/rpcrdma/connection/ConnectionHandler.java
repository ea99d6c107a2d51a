package org.nettyrdma.codec.rpcrdma.connection;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import java.net.SocketAddress;
import java.util.function.IntSupplier;
import org.nettyrdma.codec.oncrpc.transport.DemandedRead;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException;
import org.nettyrdma.codec.rpcrdma.format.SpokenVersions;
import org.nettyrdma.codec.rpcrdma.format.VersionTwoLayout;
import org.nettyrdma.codec.rpcrdma.header.HeaderFlag;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.ConnectionProperties;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Control;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Malformed;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.TransportError;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.VersionError;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaMessage;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaVersion;
import org.nettyrdma.codec.rpcrdma.header.TransportProperty;
import org.nettyrdma.codec.rpcrdma.shared.ChunkCounters;
import org.nettyrdma.codec.rpcrdma.shared.RpcRdmaFailures;
import org.nettyrdma.handler.credit.CreditedMessage.Role;
import org.nettyrdma.handler.credit.RequestGivenUp;
import org.nettyrdma.peer.PeerLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps a connection of a side that speaks version 2 to one version, and exchanges transport properties (version-two-08,
 * sections 7 and 5.3.4). Stands between the codec and the credit gate, since what it sends and answers itself is outside of the
 * credits. Where only version 1 is spoken the codec refuses all other messages, and this handler is not needed.
 *
 * <h2>Version</h2>
 * On a server the first call, or other message of version 2, settles the version; on a client the first message of the server
 * in the version that the client calls in, or its fallback. A message of the other version afterwards is an error, which the
 * draft does not name: a call is answered with ERR_VERS and the settled version as the range, the call that a reply belongs to
 * fails, anything else is dropped. Versions that nobody here speaks the codec refuses, with both as the range.
 *
 * <h2>RDMA2_CONNPROP</h2>
 * Each side sends one. A server does so as soon as it knows that the client speaks version 2, so ahead of its first reply. A
 * client does so behind the first reply: until then it has a single message in progress, and that is a call (version-two-08,
 * section 7).
 * Its XID is 0, its flag RPCRDMA2_F_RESPONSE is clear, and its credits are what this side asks for in its calls. One that cannot
 * be parsed is answered with an error, and so is a request of an unknown header type (version-two-08, sections 4.1 and 5.2). A
 * client answers too: it is no requester, which must not send errors (section 5.3.3), of what it has not asked for. A Receive
 * Buffer Size that no message with a call or a reply fits into is answered like that, and ends the connection.
 *
 * <p>All methods run on the event loop.
 */
public final class ConnectionHandler extends ChannelDuplexHandler {

    private static final Logger LOGGER = LoggerFactory.getLogger(ConnectionHandler.class);

    /** What a client knows of a server that may not speak the version which it calls in. */
    private enum Offer {
        NONE,
        CALLED,
        /** A call that nobody has answered has timed out, or was cancelled. */
        GIVEN_UP,
        /** By a reply; in version 1 by anything, where {@link #remembered}. */
        ANSWERED
    }

    /** What became of the RDMA2_CONNPROP of this side. */
    private enum Announcement {
        DUE,
        SENT,
        /** It, or that of the peer, has made the connection useless, which ends as soon as the peer was told. */
        FAILED
    }

    private final NegotiatedConnection connection;
    private final int wantedCredits;
    private final IntSupplier grantedCredits;
    private final ChunkCounters statistics;
    private final VersionFallbacks fallbacks;
    private SocketAddress server;
    /** The connection has begun with version 1, as the server is one of {@link #fallbacks}. */
    private boolean remembered;
    private boolean closing;
    private Offer offer = Offer.NONE;
    private Announcement announcement = Announcement.DUE;

    /**
     * @param wantedCredits  what the calls of this side ask for
     * @param grantedCredits what its answers grant
     * @param fallbacks      the servers that are known not to speak version 2; not used by a server
     */
    public ConnectionHandler(NegotiatedConnection connection, int wantedCredits, IntSupplier grantedCredits,
                             ChunkCounters statistics, VersionFallbacks fallbacks) {
        this.connection = connection;
        this.wantedCredits = wantedCredits;
        this.grantedCredits = grantedCredits;
        this.statistics = statistics;
        this.fallbacks = fallbacks;
    }

    @Override
    public void connect(ChannelHandlerContext ctx, SocketAddress remote, SocketAddress local, ChannelPromise promise) {
        server = remote;
        if (!connection.isServer() && !connection.isAgreed() && fallbacks.contains(remote)) {
            statistics.increment(Counter.VERSION_FALLBACKS_REMEMBERED);
            remembered = true;
            connection.agree(RpcRdmaVersion.ONE);
        }
        ctx.connect(remote, local, promise);
    }

    @Override
    public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
        if (offer == Offer.NONE && msg instanceof RpcRdmaMessage message && message.role() == Role.REQUEST) {
            offer = Offer.CALLED;
        }
        ctx.write(msg, promise);
    }

    @Override
    public void close(ChannelHandlerContext ctx, ChannelPromise promise) {
        closing = true;
        ctx.close(promise);
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (offer == Offer.CALLED && event instanceof RequestGivenUp) {
            offer = Offer.GIVEN_UP;
        }
        ctx.fireUserEventTriggered(event);
    }

    /**
     * The server has hung up where an answer was due, or this side has for want of one (version-two-08, section 7.2): the server
     * may not be able to cope with the version. Unless version 1 fares no better: then it was something else, such as a server
     * that is slow, and version 2 is offered again.
     */
    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        boolean known = connection.isAgreed() && connection.version() == RpcRdmaVersion.TWO;
        boolean refused = offer == Offer.GIVEN_UP || offer == Offer.CALLED && !closing;
        if (!connection.isServer() && refused && !known && connection.isFallbackPossible()) {
            if (remembered) {
                fallbacks.forget(server);
            } else {
                statistics.increment(Counter.VERSION_OFFERS_LOST);
                fallbacks.remember(server);
            }
        }
        ctx.fireChannelInactive();
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        if (!(msg instanceof RpcRdmaMessage message)) {
            ctx.fireChannelRead(msg);
            return;
        }
        if (announcement == Announcement.FAILED) {
            message.release();
            return;
        }
        RpcRdmaHeader header = message.chunks() == null ? message.header() : null;
        if (header instanceof Malformed malformed && isOfOtherVersion(message, malformed)) {
            refuseVersion(ctx, message);
        } else if (header instanceof Malformed malformed && message.isWithoutCall()) {
            message.release();
            refuse(ctx, malformed);
            DemandedRead.restore(ctx);
        } else if (header == null || header instanceof Control) {
            received(ctx, message);
        } else {
            if (remembered) {
                offer = Offer.ANSWERED;
            }
            if (header instanceof TransportError && !connection.isAgreed()) {
                connection.agree(RpcRdmaVersion.TWO); // a responder has to know the version to have something else to say
            }
            if (remembered && header instanceof VersionError error && error.lowestVersion() == RpcRdmaVersion.TWO.number()) {
                fallbacks.forget(server); // an earlier connection was lost for another reason
                ctx.close(); // first, so that whoever is told of the refusal knows that there has to be another connection
            }
            ctx.fireChannelRead(header instanceof Malformed malformed && malformed.granted() && !mayGrant()
                    ? inPlaceOf(message, new Malformed(malformed.xid(), malformed.version(), malformed.credits(), false,
                    malformed.cause()))
                    : message);
        }
    }

    private static RpcRdmaVersion versionOf(RpcRdmaMessage message) {
        return message.version() == RpcRdmaVersion.TWO.number() ? RpcRdmaVersion.TWO : RpcRdmaVersion.ONE;
    }

    /** Whatever else is wrong with a message, its version comes first (version-two-08, section 10.1). */
    private boolean isOfOtherVersion(RpcRdmaMessage message, Malformed header) {
        return message.role() != Role.RESPONSE && header.cause().reason() != RpcRdmaException.Reason.VERSION
                && !connection.accepts(versionOf(message));
    }

    /**
     * Whether the credits of a message that is not valid count. A client of version 2 keeps to one message at a time until a
     * valid one has come that is no error (version-two-08, section 7).
     */
    private boolean mayGrant() {
        return connection.isServer() || offer == Offer.ANSWERED || connection.version() == RpcRdmaVersion.ONE;
    }

    /** Releases {@code message}. */
    private static RpcRdmaMessage inPlaceOf(RpcRdmaMessage message, Malformed header) {
        message.release();
        RpcRdmaMessage other = RpcRdmaMessage.of(message.role(), header, Unpooled.EMPTY_BUFFER);
        return message.isInvalidating() ? other.invalidating(message.invalidatedTag()) : other;
    }

    private void received(ChannelHandlerContext ctx, RpcRdmaMessage message) {
        RpcRdmaVersion version = versionOf(message);
        if (!connection.accepts(version)) {
            refuseVersion(ctx, message);
            return;
        }
        if (message.role() == Role.RESPONSE) {
            offer = Offer.ANSWERED;
        }
        boolean agreeing = connection.isServer() || offer == Offer.ANSWERED; // a client goes by an answer
        if (announcement == Announcement.DUE && version == RpcRdmaVersion.TWO && agreeing) {
            announce(ctx); // first, as what waits for the version goes out when it is settled
            if (announcement == Announcement.FAILED) {
                message.release();
                return;
            }
        }
        if (message.isControl() && message.header() instanceof ConnectionProperties header) {
            message.release();
            propertiesReceived(ctx, header);
            DemandedRead.restore(ctx);
            return;
        }
        if (!connection.isAgreed()) {
            connection.agree(version);
        }
        boolean isTold = announcement == Announcement.SENT || announcement == Announcement.DUE && version == RpcRdmaVersion.ONE;
        if (!connection.isSettled() && isTold && agreeing) {
            connection.settled(true); // nothing of the above is left to do
        }
        ctx.fireChannelRead(message);
    }

    private void propertiesReceived(ChannelHandlerContext ctx, ConnectionProperties header) {
        long bytes = header.properties().get(TransportProperty.RECEIVE_BUFFER_SIZE);
        if (bytes >= VersionTwoLayout.LEAST_CONVEYING_LENGTH) {
            connection.peerProperties(header.properties());
            return;
        }
        announcement = Announcement.FAILED;
        connection.settled(false);
        RpcRdmaException cause = RpcRdmaFailures.connection("the peer has receives of %d bytes, and no message with a call or a "
                + "reply has less than %d",
                bytes, VersionTwoLayout.LEAST_CONVEYING_LENGTH);
        ctx.fireExceptionCaught(cause);
        if (HeaderFlag.RESPONSE.isSet(header)) {
            ctx.close(); // without an error, which a requester must not send (version-two-08, section 5.3.3)
            return;
        }
        statistics.increment(Counter.CHUNK_ERRORS);
        ctx.writeAndFlush(errorWithoutCall(header.xid(), header.version(), RpcRdmaFailures.malformed("%s", cause.getMessage())))
                .addListener(ChannelFutureListener.CLOSE);
    }

    /** It goes past the credit gate: what it answers has taken no credit. */
    private RpcRdmaMessage errorWithoutCall(int xid, int version, RpcRdmaException cause) {
        return RpcRdmaMessage.error(Refusal.of(xid, version, cause).withCredits(grantedCredits.getAsInt()));
    }

    private void announce(ChannelHandlerContext ctx) {
        int bytes = NegotiatedConnection.lengthBytes(connection.properties());
        long most = connection.terms().peerProperties().get(TransportProperty.RECEIVE_BUFFER_SIZE);
        if (bytes > most) { // only where an extension has added properties
            announcement = Announcement.FAILED;
            ctx.fireExceptionCaught(RpcRdmaFailures.connection(
                    "the peer has receives of %d bytes, and RDMA2_CONNPROP of this side has %d", most, bytes));
            ctx.close();
            return;
        }
        announcement = Announcement.SENT;
        ctx.writeAndFlush(RpcRdmaMessage.properties(new ConnectionProperties(0, wantedCredits, 0, connection.properties())));
        connection.propertiesSent();
    }

    private void refuseVersion(ChannelHandlerContext ctx, RpcRdmaMessage message) {
        if (message.isWithoutCall()) {
            message.release();
            statistics.increment(Counter.STRAY_MESSAGES_DROPPED);
            DemandedRead.restore(ctx);
            return;
        }
        RpcRdmaHeader header = message.header();
        if (!(header instanceof Malformed)) { // which the codec has counted
            statistics.increment(Counter.MALFORMED_MESSAGES);
        }
        SpokenVersions settled = new SpokenVersions(connection.version(), connection.version());
        ctx.fireChannelRead(inPlaceOf(message, new Malformed(header.xid(), header.version(), header.credits(), mayGrant(),
                RpcRdmaFailures.version(header.version(), settled))));
    }

    private void refuse(ChannelHandlerContext ctx, Malformed header) {
        PeerLog.warn(LOGGER, ctx.channel(), "refusing a message without a call: {}", header.cause());
        statistics.increment(Counter.CHUNK_ERRORS);
        ctx.writeAndFlush(errorWithoutCall(header.xid(), header.version(), header.cause()));
    }
}
