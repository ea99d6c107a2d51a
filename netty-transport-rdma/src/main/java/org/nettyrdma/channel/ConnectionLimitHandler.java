package org.nettyrdma.channel;

import static io.netty.util.internal.ObjectUtil.checkPositive;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.io.IOException;
import org.nettyrdma.peer.PeerAddress;
import org.nettyrdma.peer.PeerLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Limits the connections of a server of any transport, for {@code ServerBootstrap.handler}:
 * {@link RdmaChannelOption#MAX_CONNECTIONS} and {@link RdmaChannelOption#MAX_CONNECTIONS_PER_ADDRESS} for servers that have no
 * such options, for instance over TCP. Several server channels that share one handler share its limits.
 *
 * <p>A connection beyond a limit is closed before any handler sees it. The log says so, in at most some lines a second. A peer
 * that asked for an {@link RdmaChannel} sees that it was rejected.
 */
@Sharable
public final class ConnectionLimitHandler extends ChannelInboundHandlerAdapter {

    private static final Logger LOGGER = LoggerFactory.getLogger(ConnectionLimitHandler.class);

    private final ConnectionCounts connections;

    /**
     * Creates a handler that has counted nothing yet.
     *
     * @param maxConnections           connections at once, at least 1
     * @param maxConnectionsPerAddress connections at once from one address, of IPv6 from the same 64 bits, at least 1
     * @throws IllegalArgumentException if a limit is not positive
     */
    public ConnectionLimitHandler(int maxConnections, int maxConnectionsPerAddress) {
        connections = new ConnectionCounts(checkPositive(maxConnections, "maxConnections"),
                checkPositive(maxConnectionsPerAddress, "maxConnectionsPerAddress"));
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        if (!(message instanceof Channel accepted)) {
            ctx.fireChannelRead(message);
            return;
        }
        PeerAddress peer = PeerAddress.of(accepted.remoteAddress());
        String refusal = connections.refusalOf(peer);
        if (refusal != null) {
            PeerLog.warn(LOGGER, accepted.remoteAddress(), "is refused: {}", refusal);
            accepted.unsafe().closeForcibly();
            return;
        }
        try {
            follow(accepted, peer);
        } catch (Throwable t) { // no memory, for instance: nobody else would close it, nor count it off
            connections.ended(peer);
            accepted.unsafe().closeForcibly();
            throw t;
        }
        ctx.fireChannelRead(message);
    }

    private void follow(Channel accepted, PeerAddress peer) {
        if (accepted instanceof QueuePairChannel queuePairChannel) {
            queuePairChannel.whenUncounted(() -> connections.ended(peer));
        } else {
            accepted.closeFuture().addListener(closed -> connections.ended(peer));
        }
    }

    /** What accepting fails with, for want of descriptors, is told without a trace: peers can cause it as often as they like. */
    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        if (cause instanceof IOException) {
            cause.setStackTrace(new StackTraceElement[0]);
        }
        ctx.fireExceptionCaught(cause);
    }
}
