package org.nettyrdma.codec.rpcrdma;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPipeline;
import io.netty.util.internal.StringUtil;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaChannelConfig;
import org.nettyrdma.channel.RdmaChannelOption;
import org.nettyrdma.codec.oncrpc.IdleConnectionHandler;
import org.nettyrdma.codec.oncrpc.MemoryBudget;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcServerHandler;
import org.nettyrdma.codec.oncrpc.TransferLimits;
import org.nettyrdma.codec.oncrpc.transport.ServerShutdown;
import org.nettyrdma.codec.rpcrdma.connection.ConnectionHandler;
import org.nettyrdma.codec.rpcrdma.connection.FirstTermsHandler;
import org.nettyrdma.codec.rpcrdma.connection.InlinePath;
import org.nettyrdma.codec.rpcrdma.connection.NegotiatedConnection;
import org.nettyrdma.codec.rpcrdma.connection.OpenConnections;
import org.nettyrdma.codec.rpcrdma.connection.ReceivePlan;
import org.nettyrdma.codec.rpcrdma.connection.ReverseDirectionHandler;
import org.nettyrdma.codec.rpcrdma.connection.TransferRounds;
import org.nettyrdma.codec.rpcrdma.connection.TransferTimeout;
import org.nettyrdma.codec.rpcrdma.connection.VersionFallbacks;
import org.nettyrdma.codec.rpcrdma.connection.VersionNegotiationHandler;
import org.nettyrdma.codec.rpcrdma.connection.WrongChannelHandler;
import org.nettyrdma.codec.rpcrdma.format.FormatTable;
import org.nettyrdma.codec.rpcrdma.format.RpcRdmaCodec;
import org.nettyrdma.codec.rpcrdma.header.HeaderExtensions;
import org.nettyrdma.codec.rpcrdma.header.PropertySet;
import org.nettyrdma.codec.rpcrdma.header.ReverseRequestSupport;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaVersion;
import org.nettyrdma.codec.rpcrdma.header.TransportProperty;
import org.nettyrdma.codec.rpcrdma.legacy.LegacyProfile;
import org.nettyrdma.codec.rpcrdma.legacy.internal.AlignmentPadding;
import org.nettyrdma.codec.rpcrdma.legacy.internal.LegacyReplies;
import org.nettyrdma.codec.rpcrdma.legacy.internal.LegacyReplyFetch;
import org.nettyrdma.codec.rpcrdma.requester.RequesterChunkHandler;
import org.nettyrdma.codec.rpcrdma.responder.ResponderChunkHandler;
import org.nettyrdma.codec.rpcrdma.shared.BindingTable;
import org.nettyrdma.codec.rpcrdma.shared.ChunkCounters;
import org.nettyrdma.codec.rpcrdma.shared.ConnectionParts;
import org.nettyrdma.handler.credit.CreditGate;
import org.nettyrdma.peer.PeerLog;
import org.nettyrdma.verbs.Capabilities;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Puts RPC-over-RDMA into the pipelines of {@link RdmaChannel}s. One instance serves any number of connections.
 * <pre>{@code
 * RpcRdma.server().program(program).build()
 *         .configure(new ServerBootstrap().group(new RdmaEventLoopGroup()).channel(RdmaServerChannel.class)).bind(20049);
 *
 * RpcRdma.client().build()                                               // pipeline().get(RpcClient.class)
 *         .configure(new Bootstrap().group(new RdmaEventLoopGroup()).channel(RdmaChannel.class)).connect(host, 20049);
 * }</pre>
 *
 * <p>The handlers of the application come last. They read one {@link ByteBuf} per RPC message, and write a {@link ByteBuf} or
 * an {@link org.nettyrdma.codec.oncrpc.RpcMessage} for each. They are the same as over TCP.
 *
 * <p>Calls and replies without chunks pass by the handlers between the codec and the chunk handler. A handler of the application
 * that is to see these messages there has to be in its place before the first message comes.
 *
 * <h2>Executors</h2>
 * The handlers that this class adds work on the event loop of the channel. A pipeline to which this class is added with an
 * executor group is refused, and its channel is closed. {@link RpcServerHandler}, {@link RpcClient} and the handlers of the
 * application, in front of these handlers or behind them, may be added with an executor group. Writes may have a promise of any
 * executor, or a void promise.
 *
 * <h2>Channel options</h2>
 * This class sets the private data that tells the peer the inline threshold of this side, unless the application has set private
 * data itself. Receive buffers exist before a pipeline does. So limits other than the defaults need matching options;
 * {@link #configure(ServerBootstrap)} and {@link #configure(Bootstrap)} set them together with the handler. Without these
 * options, thresholds and credits are lowered to fit the receives of the channel. {@link RdmaChannelOption#MAX_OUTBOUND_MESSAGES}
 * is set to the depth of both queues unless the application has set it: no message of a peer is passed on while the peer does not
 * take its answers. Both this number and the credits that the peer is granted are at most {@link RdmaChannel#fairMessages()}.
 * Credits are also at most what {@link RdmaChannel#reserveReceives} gives. A peer that uses more loses its connection.
 */
@ChannelHandler.Sharable
public final class RpcRdma extends ChannelInitializer<RdmaChannel> {

    private static final Logger LOGGER = LoggerFactory.getLogger(RpcRdma.class);

    private final boolean server;
    private final ReceivePlan receives;
    private final ResourceLimits resources;
    private final long idleTimeoutMillis;
    private final MemoryBudget memory;
    /** For calls from server to client, as those of one direction may be what those of the other wait for. */
    private final MemoryBudget reverseMemory;
    /** Calls from server to client that may be in progress at once; 0 if there are none at all. */
    private final int reverseCredits;
    private final boolean remoteInvalidation;
    private final VersionPolicy versions;
    private final HeaderExtensions extensions;
    private final VersionFallbacks fallbacks = new VersionFallbacks(System::nanoTime);
    private final PeerPolicy peerPolicy;
    /** {@code null} where transfers may take for ever. */
    private final TransferRounds transferRounds;
    private final CallObserver callObserver;
    /** {@code null} unless asked for. */
    private final LegacyProfile legacy;
    private final BindingTable bindings;
    private final Consumer<ChannelPipeline> extensionHandlers;
    private final Consumer<ChannelPipeline> handlers;
    private final ChunkCounters statistics = new ChunkCounters();
    private final OpenConnections connections = new OpenConnections();
    private final AtomicBoolean hasWarnedOfShortfall = new AtomicBoolean();

    RpcRdma(RpcRdmaBuilder builder) {
        server = builder.server;
        resources = builder.resources;
        idleTimeoutMillis = builder.idleTimeoutMillis;
        memory = builder.memory == null ? new MemoryBudget(resources.maxTotalBytes()) : builder.memory;
        transferRounds = resources.transferTimeoutMillis() == 0 ? null : new TransferRounds(
                new TransferLimits(resources.transferTimeoutMillis(), resources.minTransferBytesPerSecond()),
                server ? memory::isGone : null);
        reverseMemory = new MemoryBudget(memory.maxBytes());
        reverseCredits = builder.reverseCredits;
        remoteInvalidation = builder.remoteInvalidation;
        versions = builder.versions;
        // Calls from server to client have no chunks in version 1, and must not be possible only where receives are long.
        boolean mayBeLonger = !builder.isThresholdSet && !isReverse();
        receives = new ReceivePlan(server, builder.limits, mayBeLonger, reverseCredits,
                server && builder.legacy != null ? builder.legacy.maxPendingReplies() : 0,
                !speaksVersionTwo() ? 0 : ReceivePlan.CONTROL_RECEIVES
                        + (builder.extensions.hasBoundedTypes() ? ReceivePlan.BOUNDED_RECEIVES : 0));
        extensions = builder.extensions;
        peerPolicy = builder.peerPolicy;
        callObserver = builder.callObserver;
        legacy = builder.legacy;
        bindings = new BindingTable(builder.bindings);
        extensionHandlers = builder.extensionHandlers;
        handlers = builder.handlers();
    }

    /**
     * Begins a configuration for connections on which this side calls.
     *
     * @return a builder with the defaults
     */
    public static RpcRdmaBuilder client() {
        return new RpcRdmaBuilder(false);
    }

    /**
     * Begins a configuration for connections on which the peer calls.
     *
     * @return a builder with the defaults
     */
    public static RpcRdmaBuilder server() {
        return new RpcRdmaBuilder(true);
    }

    /**
     * Finds the state of a connection: its version and terms.
     *
     * @param channel a channel whose pipeline was made by any {@link RpcRdma}
     * @return the connection, {@code null} if it was not
     */
    public static RpcRdmaConnection connection(Channel channel) {
        return NegotiatedConnection.of(channel);
    }

    /**
     * Refuses a channel of another type, and says which one is needed: where it is being connected or bound that fails, and one
     * that was accepted is closed.
     */
    @Override
    public void handlerAdded(ChannelHandlerContext ctx) throws Exception {
        if (ctx.channel() instanceof RdmaChannel) {
            super.handlerAdded(ctx);
            return;
        }
        IllegalStateException reason = new IllegalStateException("RpcRdma needs an RdmaChannel, not a "
                + StringUtil.simpleClassName(ctx.channel())
                + ": give a Bootstrap channel(RdmaChannel.class), and a ServerBootstrap "
                + "channel(RdmaServerChannel.class) with RpcRdma as its childHandler, both with an RdmaEventLoopGroup");
        if (ctx.channel().parent() == null) {
            ctx.pipeline().addLast(new WrongChannelHandler(reason));
        } else {
            exceptionCaught(ctx, reason); // tells the log and closes the channel
        }
        ctx.pipeline().remove(this); // or it would initialize the channel when that is registered
    }

    @Override
    protected void initChannel(RdmaChannel channel) {
        if (!channel.eventLoop().inEventLoop()) {
            throw new IllegalStateException("RpcRdma was added with an executor group (expected: without; its handlers work on "
                    + "the event loop of the channel, those of the application may have executors of their own)");
        }
        RpcRdmaLimits own = receives.limitsOf(channel);
        warnOfShortfall(channel, own);
        NegotiatedConnection connection = new NegotiatedConnection(channel, server, versions, announce(channel, own),
                own.inlineThresholdBytes(), properties(own));
        ConnectionParts parts = new ConnectionParts(own, resources, memory, bindings, statistics, connection);
        RpcRdmaCodec codec = codec(own);
        CreditGate gate = gate(own, channel);
        boundAnswers(channel.config());
        ChannelHandler chunks = chunkHandler(channel, parts, gate, codec);
        if (transferRounds != null) {
            TransferTimeout.watch(channel, transferRounds, statistics, !server && !isReverse(),
                    () -> chunks instanceof ResponderChunkHandler responder && responder.holdsMemory());
        }
        ChannelPipeline pipeline = channel.pipeline();
        if (idleTimeoutMillis > 0) {
            pipeline.addLast(new IdleConnectionHandler(idleTimeoutMillis, () -> hasCallsInProgress(gate)));
        }
        pipeline.addLast(codec);                          // ByteBuf         <-> RpcRdmaMessage
        pipeline.addLast(new FirstTermsHandler(connection)); // until the connection stands
        if (speaksVersionTwo()) {
            pipeline.addLast(connectionHandler(connection, own, gate)); // one version, properties
        }
        pipeline.addLast(gate);                           // holds calls back, counts them in, stamps credits
        pipeline.addLast(chunks);                         // RpcRdmaMessage <-> whole RPC message
        if (isReverse()) {
            pipeline.addLast(new ReverseDirectionHandler(statistics, connection)); // the other direction, without chunks
        }
        if (isReverse() && speaksVersionTwo()) {
            pipeline.addLast(reverseChunkHandler(parts.reversed(reverseMemory), gate)); // and with chunks, in version 2
        }
        if (speaksVersionTwo() && (!server || isReverse())) {
            pipeline.addLast(new VersionNegotiationHandler(connection, statistics)); // until it is settled
        }
        extensionHandlers.accept(pipeline);
        handlers.accept(pipeline);                        // RPC message     <-> the application
        connections.add(channel, gate);
    }

    /** Once: it is the same for all channels of a bootstrap that was not configured. */
    private void warnOfShortfall(RdmaChannel channel, RpcRdmaLimits own) {
        String shortfall = receives.shortfall(own);
        if (!shortfall.isEmpty() && !hasWarnedOfShortfall.getAndSet(true)) {
            PeerLog.warn(LOGGER, channel, "has fewer or smaller receives than RpcRdma was asked for: {}; "
                    + "RpcRdma.configure(bootstrap) sets these options", shortfall);
        }
    }

    /**
     * Answers that the peer does not take, errors included, are kept until it does. A peer that keeps to the protocol has no more
     * to come than it has sent, and this side has no more receives than that; the device may have more that have arrived and are
     * not completed.
     */
    private static void boundAnswers(RdmaChannelConfig config) {
        if (config.getMaxOutboundMessages() == Integer.MAX_VALUE) {
            config.setMaxOutboundMessages(config.getReceiveQueueDepth() + config.getSendQueueDepth());
        }
    }

    private static boolean hasCallsInProgress(CreditGate gate) {
        return gate.statistics().served().inProgress() > 0 || gate.isResponseAwaited();
    }

    private RpcRdmaCodec codec(RpcRdmaLimits own) {
        FormatTable formats = new FormatTable(versions.spoken(), own, extensions);
        RpcRdmaCodec codec = server ? RpcRdmaCodec.server(formats, statistics, isReverse())
                : RpcRdmaCodec.client(formats, statistics, isReverse());
        return legacy == null ? codec : codec.obsoleteTypes(new AlignmentPadding(bindings));
    }

    private ChannelHandler connectionHandler(NegotiatedConnection connection, RpcRdmaLimits own, CreditGate gate) {
        return new ConnectionHandler(connection, server ? Math.max(1, reverseCredits) : own.credits(),
                () -> gate.statistics().served().granted(), statistics, fallbacks);
    }

    private boolean speaksVersionTwo() {
        return versions.speaks(RpcRdmaVersion.TWO);
    }

    /** What peers are told in version 2. */
    private PropertySet properties(RpcRdmaLimits own) {
        return new PropertySet(List.of(
                new PropertySet.Value<>(TransportProperty.RECEIVE_BUFFER_SIZE, (long) own.inlineThresholdBytes()),
                new PropertySet.Value<>(TransportProperty.REVERSE_REQUEST_SUPPORT,
                        isReverse() ? ReverseRequestSupport.GENERAL : ReverseRequestSupport.NONE)));
    }

    private boolean isReverse() {
        return reverseCredits > 0;
    }

    /** One gate holds both directions: a server's requests are the reverse calls, a client serves them. */
    private CreditGate gate(RpcRdmaLimits own, RdmaChannel channel) {
        int reverse = Math.max(1, reverseCredits); // a gate has at least one; without the reverse direction nothing uses it
        int requests = server ? reverse : own.credits();
        int served = server ? own.credits() : reverse;
        int besides = receives.besidesServed(own);
        int servedReceives = channel.config().getOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH) - besides;
        if (server) {
            channel.reserveReceives(1, besides); // until the first reply grants more
        }
        return new CreditGate(requests, CreditGate.DEFAULT_MAX_WAITING, served,
                () -> grantable(channel, served, besides, servedReceives));
    }

    /**
     * What is in progress keeps its receive buffer, and takes memory for its answer. While no messages are taken, those that have
     * arrived keep their receives, and only what is left can be granted.
     */
    private static int grantable(RdmaChannel channel, int most, int besides, int receives) {
        if (ServerShutdown.isBegun(channel)) {
            return 1;
        }
        int share = Math.min(channel.fairMessages(), channel.reserveReceives(most, besides));
        return channel.config().isAutoRead() ? share : Math.min(share, receives - channel.heldMessages());
    }

    /** Messages without chunks may take a short path between this and the codec where calls go one way only. */
    private ChannelHandler chunkHandler(RdmaChannel channel, ConnectionParts parts, CreditGate gate, RpcRdmaCodec codec) {
        InlinePath.End handler = !server ? requester(parts, gate) : new ResponderChunkHandler(parts,
                legacy == null ? null : new LegacyReplies(channel, legacy, parts.limits(), statistics));
        if (!isReverse() && legacy == null) {
            InlinePath.lay(codec, gate, handler, parts.connection());
        }
        return handler;
    }

    private ChannelHandler reverseChunkHandler(ConnectionParts parts, CreditGate gate) {
        return server ? requester(parts, gate) : new ResponderChunkHandler(parts, null);
    }

    private RequesterChunkHandler requester(ConnectionParts parts, CreditGate gate) {
        return new RequesterChunkHandler(parts, peerPolicy, callObserver, gate::abandon,
                legacy == null || parts.reverse() ? null : (ctx, owner) -> new LegacyReplyFetch(ctx, parts, owner));
    }

    /** Sets the private data that goes out with the connection request or its answer, and returns what it says. */
    private RpcRdmaPrivateData announce(RdmaChannel channel, RpcRdmaLimits own) {
        Capabilities capabilities = channel.capabilities();
        byte[] set = channel.config().getOption(RdmaChannelOption.PRIVATE_DATA);
        if (set.length > 0) {
            RpcRdmaPrivateData told = RpcRdmaPrivateData.parse(Unpooled.wrappedBuffer(set));
            return new RpcRdmaPrivateData(told.acceptsInvalidation() && capabilities.sendWithInvalidate(), told.sendBytes(),
                    told.receiveBytes());
        }
        if (capabilities.maxPrivateDataBytes() < RpcRdmaPrivateData.LENGTH) {
            return RpcRdmaPrivateData.NONE; // nothing can be said, and both sides keep to what needs no word
        }
        RpcRdmaPrivateData announced = new RpcRdmaPrivateData(remoteInvalidation && capabilities.sendWithInvalidate(),
                own.inlineThresholdBytes(), own.inlineThresholdBytes());
        channel.config().setOption(RdmaChannelOption.PRIVATE_DATA, announced.toBytes());
        return announced;
    }

    /**
     * Sets this as the child handler of a server, and with it the channel options that go with its limits.
     *
     * @param bootstrap the server's bootstrap
     * @return the bootstrap
     */
    public ServerBootstrap configure(ServerBootstrap bootstrap) {
        receives.options().forEach(bootstrap::childOption);
        bootstrap.childOption(RdmaChannelOption.LONG_RECEIVES, receives.mayBeLonger());
        if (extensions.hasHeaderTypes()) {
            bootstrap.childOption(RdmaChannelOption.SHARED_RECEIVES, false); // the peer may ask for larger ones
        }
        return bootstrap.childHandler(this);
    }

    /**
     * Sets this as the handler of a client, and with it the channel options that go with its limits.
     *
     * @param bootstrap the client's bootstrap
     * @return the bootstrap
     */
    public Bootstrap configure(Bootstrap bootstrap) {
        receives.options().forEach(bootstrap::option);
        bootstrap.option(RdmaChannelOption.LONG_RECEIVES, receives.mayBeLonger());
        if (extensions.hasHeaderTypes()) {
            bootstrap.option(RdmaChannelOption.SHARED_RECEIVES, false); // the peer may ask for larger ones
        }
        return bootstrap.handler(this);
    }

    /**
     * The counters of all connections of this object.
     *
     * @return the counters; any thread
     */
    public ChunkStatistics statistics() {
        return statistics;
    }

    /** The memory that all connections share. */
    MemoryBudget memory() {
        return memory;
    }

    /** {@link #memory()}, and that for calls from server to client if there are such calls. */
    List<MemoryBudget> budgets() {
        return isReverse() ? List.of(memory, reverseMemory) : List.of(memory);
    }

    /** The connections that stand, for their meters. */
    OpenConnections connections() {
        return connections;
    }
}
