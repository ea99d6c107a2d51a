package org.nettyrdma.example.nfs;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.AttributeKey;
import org.nettyrdma.codec.rpcrdma.ConnectionTerms;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs what each connection over RDMA has agreed on, and counts the connections by it, when their version is settled, in the
 * meter {@value #NAME}, with the tags {@code role}, {@code version} (1 or 2), {@code send} and {@code receive} (inline thresholds
 * in bytes) and {@code invalidates} and {@code invalidated} (whether replies from here and to here may be Sends with Invalidate).
 */
@ChannelHandler.Sharable
final class ConnectionMeters extends ChannelInboundHandlerAdapter {

    static final String NAME = "nfs.rdma.connections";

    private static final AttributeKey<Boolean> COUNTED = AttributeKey.valueOf(ConnectionMeters.class, "COUNTED");

    private static final Logger LOGGER = LoggerFactory.getLogger(ConnectionMeters.class);

    private final MeterRegistry registry;
    private final String role;

    ConnectionMeters(MeterRegistry registry, String role) {
        this.registry = registry;
        this.role = role;
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof ConnectionTerms terms) {
            LOGGER.info("{} {}: version {}{}, sends up to {} bytes inline, receives up to {}{}{}", role, ctx.channel(),
                    terms.version().number(),
                    terms.agreed() ? "" : " for now", terms.sendBytes(), terms.receiveBytes(),
                    terms.mayInvalidate() ? ", invalidates the peer's handles" : "",
                    terms.mayBeInvalidated() ? ", has its handles invalidated" : "");
            if (terms.agreed() && ctx.channel().attr(COUNTED).setIfAbsent(true) == null) {
                Counter.builder(NAME).description("Connections made, by what they agreed on").tags(tags(terms)).register(registry)
                        .increment();
            }
        }
        ctx.fireUserEventTriggered(event);
    }

    private Tags tags(ConnectionTerms terms) {
        return Tags.of(Transport.ROLE_TAG, role, "version", String.valueOf(terms.version().number()),
                "send", String.valueOf(terms.sendBytes()), "receive", String.valueOf(terms.receiveBytes()),
                "invalidates", String.valueOf(terms.mayInvalidate()), "invalidated", String.valueOf(terms.mayBeInvalidated()));
    }
}
