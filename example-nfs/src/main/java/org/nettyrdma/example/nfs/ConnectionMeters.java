package org.nettyrdma.example.nfs;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.AttributeKey;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.codec.rpcrdma.ConnectionTerms;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs at level DEBUG what each connection over RDMA has agreed on. Counts the connections by it, when their version is settled,
 * in the meter {@value #NAME}, with the tags {@code role}, {@code provider} (what carries it), {@code version} (1 or 2),
 * {@code send} and {@code receive} (inline thresholds in bytes; after {@value #MAX_THRESHOLDS} different ones, a new one is
 * {@code other}) and {@code invalidates} and {@code invalidated} (whether replies
 * from here and to here may be Sends with Invalidate). The meter {@value #BYTES} has the bytes that each provider has moved for
 * this side, with the tags {@code role}, {@code provider} and {@code direction}, {@code sent} or {@code received}: by messages,
 * and by RDMA Writes and Reads of this side.
 */
@ChannelHandler.Sharable
final class ConnectionMeters extends ChannelInboundHandlerAdapter {

    static final String NAME = "nfs.rdma.connections";

    static final String BYTES = "nfs.rdma.bytes";

    /** How many inline thresholds there may be: the peer chooses them, and must not fill the registry with meters. */
    static final int MAX_THRESHOLDS = 16;

    private static final String OTHER = "other";

    private static final AttributeKey<Boolean> COUNTED = AttributeKey.valueOf(ConnectionMeters.class, "COUNTED");

    private static final Logger LOGGER = LoggerFactory.getLogger(ConnectionMeters.class);

    private final MeterRegistry registry;
    private final String role;
    private final Map<String, ProviderTraffic> traffic = new ConcurrentHashMap<>();
    private final Set<String> thresholds = new HashSet<>();

    ConnectionMeters(MeterRegistry registry, String role) {
        this.registry = registry;
        this.role = role;
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof ConnectionTerms terms) {
            LOGGER.debug("{} {}: version {}{}, sends up to {} bytes inline, receives up to {}{}{}", role, ctx.channel(),
                    terms.version().number(),
                    terms.agreed() ? "" : " for now", terms.sendBytes(), terms.receiveBytes(),
                    terms.mayInvalidate() ? ", invalidates the peer's handles" : "",
                    terms.mayBeInvalidated() ? ", has its handles invalidated" : "");
            if (terms.agreed() && ctx.channel().attr(COUNTED).setIfAbsent(true) == null) {
                RdmaChannel channel = (RdmaChannel) ctx.channel();
                String provider = channel.connectionInfo().provider();
                Counter.builder(NAME).baseUnit("connections").description("Connections made, by what they agreed on")
                        .tags(tags(terms, provider)).register(registry).increment();
                traffic.computeIfAbsent(provider, this::newTraffic).add(channel);
            }
        }
        ctx.fireUserEventTriggered(event);
    }

    private ProviderTraffic newTraffic(String provider) {
        ProviderTraffic bytes = new ProviderTraffic();
        meter(provider, "sent", bytes::sentBytes);
        meter(provider, "received", bytes::receivedBytes);
        return bytes;
    }

    /** The registry refers weakly to what a meter is of, which is nothing that goes away here, lest the last numbers do. */
    private void meter(String provider, String direction, LongSupplier bytes) {
        FunctionCounter.builder(BYTES, ConnectionMeters.class, any -> bytes.getAsLong()).baseUnit("bytes")
                .description("Bytes that the provider has moved for this side")
                .tags(Transport.ROLE_TAG, role, "provider", provider, "direction", direction).register(registry);
    }

    Tags tags(ConnectionTerms terms, String provider) {
        return Tags.of(Transport.ROLE_TAG, role, "provider", provider, "version", String.valueOf(terms.version().number()),
                "send", threshold(terms.sendBytes()), "receive", threshold(terms.receiveBytes()),
                "invalidates", String.valueOf(terms.mayInvalidate()), "invalidated", String.valueOf(terms.mayBeInvalidated()));
    }

    private String threshold(int bytes) {
        String value = String.valueOf(bytes);
        synchronized (thresholds) {
            return thresholds.contains(value) || thresholds.size() < MAX_THRESHOLDS && thresholds.add(value) ? value : OTHER;
        }
    }
}
