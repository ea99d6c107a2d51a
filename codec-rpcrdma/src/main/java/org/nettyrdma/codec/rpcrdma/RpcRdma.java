package org.nettyrdma.codec.rpcrdma;

import static io.netty.util.internal.ObjectUtil.checkInRange;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPipeline;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaChannelOption;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcProgram;
import org.nettyrdma.codec.oncrpc.RpcServerHandler;
import org.nettyrdma.handler.credit.CreditGate;
import org.nettyrdma.verbs.Capabilities;

/**
 * Puts RPC-over-RDMA into the pipelines of {@link RdmaChannel}s. One instance serves any number of connections.
 * <pre>{@code
 * new ServerBootstrap().group(new RdmaEventLoopGroup()).channel(RdmaServerChannel.class)
 *         .childHandler(RpcRdma.server().program(program).build()).bind(20049);
 *
 * new Bootstrap().group(new RdmaEventLoopGroup()).channel(RdmaChannel.class)
 *         .handler(RpcRdma.client().build()).connect(host, 20049);       // pipeline().get(RpcClient.class)
 * }</pre>
 *
 * <p>The handlers of the application, which come last, read one {@link ByteBuf} per RPC message and write a {@link ByteBuf} or
 * an {@link org.nettyrdma.codec.oncrpc.RpcMessage} for each; they are the same as over TCP.
 *
 * <h2>Channel options</h2>
 * The private data that tells the peer our inline threshold is set here, unless the application has set some itself. Receive
 * buffers exist before a pipeline does, so limits other than the default ones need matching options;
 * {@link #configure(ServerBootstrap)} and {@link #configure(Bootstrap)} set them together with the handler. Without that,
 * thresholds and credits are lowered to what the channel's receives can take.
 */
@ChannelHandler.Sharable
public final class RpcRdma extends ChannelInitializer<RdmaChannel> {

    private final boolean server;
    private final ReceivePlan receives;
    private final ResourceLimits resources;
    private final MemoryBudget memory;
    /** Calls from server to client that may be in progress at once; 0 if there are none at all. */
    private final int reverseCredits;
    private final boolean remoteInvalidation;
    private final VersionPolicy versions;
    private final RpcRdmaExtensions extensions;
    private final VersionFallbacks fallbacks = new VersionFallbacks(System::nanoTime);
    private final PeerPolicy peerPolicy;
    private final CallObserver callObserver;
    /** {@code null} unless asked for. */
    private final LegacyProfile legacy;
    private final UpperLayerBindings bindings;
    private final Consumer<ChannelPipeline> extensionHandlers;
    private final Consumer<ChannelPipeline> handlers;
    private final ChunkStatistics statistics = new ChunkStatistics();
    private final RpcRdmaConnections connections = new RpcRdmaConnections();

    private RpcRdma(Builder builder) {
        server = builder.server;
        resources = builder.resources;
        memory = new MemoryBudget(resources.maxTotalBytes());
        reverseCredits = builder.reverseCredits;
        remoteInvalidation = builder.remoteInvalidation;
        versions = builder.versions;
        receives = new ReceivePlan(server, builder.limits, reverseCredits,
                server && builder.legacy != null ? builder.legacy.maxPendingReplies() : 0,
                !speaksVersionTwo() ? 0 : ReceivePlan.CONTROL_RECEIVES
                        + (builder.extensions.hasBoundedTypes() ? ReceivePlan.BOUNDED_RECEIVES : 0));
        extensions = builder.extensions;
        peerPolicy = builder.peerPolicy;
        callObserver = builder.callObserver;
        legacy = builder.legacy;
        bindings = new UpperLayerBindings(builder.bindings);
        extensionHandlers = builder.extensionHandlers;
        handlers = builder.handlers();
    }

    /**
     * For connections on which this side calls.
     *
     * @return a builder with the defaults
     */
    public static Builder client() {
        return new Builder(false);
    }

    /**
     * For connections on which the peer calls.
     *
     * @return a builder with the defaults
     */
    public static Builder server() {
        return new Builder(true);
    }

    /**
     * What a connection has settled.
     *
     * @param channel a channel whose pipeline was made by any {@link RpcRdma}
     * @return the connection, {@code null} if it was not
     */
    public static RpcRdmaConnection connection(Channel channel) {
        return RpcRdmaConnection.of(channel);
    }

    @Override
    protected void initChannel(RdmaChannel channel) {
        RpcRdmaLimits own = receives.limitsOf(channel);
        RpcRdmaConnection connection = new RpcRdmaConnection(channel, server, versions, announce(channel, own), own,
                properties(own));
        CreditGate gate = gate(own, channel);
        if (server && resources.transferTimeoutMillis() > 0) {
            channel.pipeline().addLast(new TransferTimeoutHandler(resources.transferTimeoutMillis(), statistics));
        }
        channel.pipeline()
                .addLast(codec(own))                      // ByteBuf         <-> RpcRdmaMessage
                .addLast(connectionHandler(connection, own, gate)) // one version, properties
                .addLast(gate)                            // holds calls back, counts them in, stamps credits
                .addLast(chunkHandler(channel, own, connection)); // RpcRdmaMessage <-> whole RPC message
        if (isReverse()) {
            channel.pipeline().addLast(reverseHandler(connection)); // the same for the other direction, without chunks
        }
        if (isReverse() && speaksVersionTwo()) {
            channel.pipeline().addLast(reverseChunkHandler(own, connection)); // and with chunks, in version 2
        }
        if (speaksVersionTwo() && (!server || isReverse())) {
            channel.pipeline().addLast(new VersionNegotiationHandler(connection, server, statistics)); // until it is settled
        }
        extensionHandlers.accept(channel.pipeline());
        handlers.accept(channel.pipeline());              // RPC message     <-> the application
        connections.add(channel, gate);
    }

    private ChannelHandler codec(RpcRdmaLimits own) {
        HeaderFormats formats = new HeaderFormats(versions.spoken(), own, extensions);
        RpcRdmaCodec codec = server ? RpcRdmaCodec.server(formats, statistics, isReverse())
                : RpcRdmaCodec.client(formats, statistics, isReverse());
        return legacy == null ? codec : codec.legacy(new AlignmentPadding(bindings));
    }

    private ChannelHandler connectionHandler(RpcRdmaConnection connection, RpcRdmaLimits own, CreditGate gate) {
        return server ? ConnectionHandler.server(connection, Math.max(1, reverseCredits),
                        () -> gate.statistics().served().granted(), statistics)
                : ConnectionHandler.client(connection, own.credits(), statistics, fallbacks);
    }

    private boolean speaksVersionTwo() {
        return versions.speaks(RpcRdmaVersion.TWO);
    }

    /** What peers are told in version 2. */
    private PropertySet properties(RpcRdmaLimits own) {
        return PropertySet.EMPTY
                .with(TransportProperty.RECEIVE_BUFFER_SIZE, (long) own.inlineThresholdBytes())
                .with(TransportProperty.REVERSE_REQUEST_SUPPORT,
                        isReverse() ? ReverseRequestSupport.GENERAL : ReverseRequestSupport.NONE);
    }

    private boolean isReverse() {
        return reverseCredits > 0;
    }

    /** One gate holds both directions: a server's requests are the reverse calls, a client serves them. */
    private CreditGate gate(RpcRdmaLimits own, RdmaChannel channel) {
        int reverse = Math.max(1, reverseCredits); // a gate has at least one; without the reverse direction nothing uses it
        int requests = server ? reverse : own.credits();
        int served = server ? own.credits() : reverse;
        int servedReceives = receives.servedReceives(channel, own);
        return new CreditGate(requests, CreditGate.DEFAULT_MAX_WAITING, served,
                () -> grantable(channel, servedReceives));
    }

    /** While no messages are taken, those that have arrived keep their receives, and only what is left can be granted. */
    private static int grantable(RdmaChannel channel, int receives) {
        return channel.config().isAutoRead() ? Integer.MAX_VALUE : receives - channel.heldMessages();
    }

    private ChannelHandler reverseHandler(RpcRdmaConnection connection) {
        return server ? ReverseDirectionHandler.server(statistics, connection)
                : ReverseDirectionHandler.client(statistics, connection);
    }

    private ChannelHandler chunkHandler(RdmaChannel channel, RpcRdmaLimits own, RpcRdmaConnection connection) {
        return server ? responder(own, connection, false,
                legacy == null ? null : new LegacyReplies(channel, legacy, own, statistics))
                : requester(own, connection, false);
    }

    private ChannelHandler reverseChunkHandler(RpcRdmaLimits own, RpcRdmaConnection connection) {
        return server ? requester(own, connection, true) : responder(own, connection, true, null);
    }

    private ChannelHandler requester(RpcRdmaLimits own, RpcRdmaConnection connection, boolean reverse) {
        return new RequesterChunkHandler(own, resources, memory, peerPolicy, bindings, statistics, callObserver, connection,
                reverse);
    }

    private ChannelHandler responder(RpcRdmaLimits own, RpcRdmaConnection connection, boolean reverse, LegacyReplies replies) {
        return new ResponderChunkHandler(own, resources, memory, bindings, statistics, connection, reverse, replies);
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
        RpcRdmaPrivateData announced = new RpcRdmaPrivateData(remoteInvalidation && capabilities.sendWithInvalidate(), own.inlineThresholdBytes(),
                own.inlineThresholdBytes());
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
        return bootstrap.handler(this);
    }

    /**
     * What has moved on all connections, and how.
     *
     * @return the counters; any thread
     */
    public ChunkStatistics statistics() {
        return statistics;
    }

    /** The memory that all connections share, for its meters. */
    MemoryBudget memory() {
        return memory;
    }

    /** The connections that stand, for their meters. */
    RpcRdmaConnections connections() {
        return connections;
    }

    /** Says what a {@link RpcRdma} is to do. Not thread safe. */
    public static final class Builder {

        private final boolean server;
        private final List<UpperLayerBinding> bindings = new ArrayList<>();
        private final List<RpcProgram> programs = new ArrayList<>();
        private Executor executor = Runnable::run;
        private RpcRdmaLimits limits = RpcRdmaLimits.DEFAULT;
        private ResourceLimits resources = ResourceLimits.DEFAULT;
        private VersionPolicy versions = VersionPolicy.V1_ONLY;
        private boolean remoteInvalidation = true;
        private RpcRdmaExtensions extensions = RpcRdmaExtensions.NONE;
        private PeerPolicy peerPolicy = PeerPolicy.CONSERVATIVE;
        private CallObserver callObserver = (program, version, procedure, call, reply) -> { };
        private Consumer<ChannelPipeline> extensionHandlers = pipeline -> { };
        private Consumer<ChannelPipeline> handlers;
        private int reverseCredits;
        private LegacyProfile legacy;

        private Builder(boolean server) {
            this.server = server;
        }

        /**
         * Sets all limits; the default is {@link RpcRdmaLimits#DEFAULT}.
         *
         * @param newLimits the limits
         * @return this
         */
        public Builder limits(RpcRdmaLimits newLimits) {
            limits = Objects.requireNonNull(newLimits, "newLimits");
            return this;
        }

        /**
         * Sets how much memory and time calls may take; the default is {@link ResourceLimits#DEFAULT}. All connections of
         * what is built share the memory.
         *
         * @param newResources the limits
         * @return this
         */
        public Builder resources(ResourceLimits newResources) {
            resources = Objects.requireNonNull(newResources, "newResources");
            return this;
        }

        /**
         * Sets how many calls may be in progress at once on a connection; see {@link RpcRdmaLimits#credits()}.
         *
         * @param credits 1 to 1024, default 128
         * @return this
         */
        public Builder credits(int credits) {
            limits = limits.withCredits(credits);
            return this;
        }

        /**
         * Sets the largest Send in each direction; see {@link RpcRdmaLimits#inlineThresholdBytes()}.
         *
         * @param bytes 1024 to 65536, a multiple of 1024, default 4096
         * @return this
         */
        public Builder inlineThresholdBytes(int bytes) {
            limits = limits.withInlineThresholdBytes(bytes);
            return this;
        }

        /**
         * Sets the largest RPC message; see {@link RpcRdmaLimits#maxMessageBytes()}.
         *
         * @param bytes 1024 to 17 MiB, default 1 MiB + 64 KiB
         * @return this
         */
        public Builder maxMessageBytes(int bytes) {
            limits = limits.withMaxMessageBytes(bytes);
            return this;
        }

        /**
         * Sets whether replies may be Sends with Invalidate, which withdraw memory of the side that has called and spare it a work
         * request of its own. In version 1 both sides have to want it, and a reply withdraws the handle of calls that have only
         * one (RFC 8797). In version 2 each call names the handle of its largest piece of memory, and its reply withdraws that
         * (version-two-08, section 3.3). All other handles, all of them with {@code false}, are withdrawn by the side that has
         * called, before the caller sees the reply. A connection whose {@link RdmaChannelOption#PRIVATE_DATA} was set by the
         * application goes by the flag in there.
         *
         * @param wanted {@code false} for plain Sends in both directions; default {@code true}, on connections whose provider has
         *               Send with Invalidate
         * @return this
         */
        public Builder remoteInvalidation(boolean wanted) {
            remoteInvalidation = wanted;
            return this;
        }

        /**
         * Sets which versions of the protocol a client calls in, or a server accepts; the default is
         * {@link VersionPolicy#V1_ONLY}. With version 2 a connection has 5 more receives, of at
         * least 4096 bytes each, and 8 more with {@link #extensions} whose messages are
         * {@linkplain HeaderType.Accounting#BOUNDED bounded}; {@link RpcRdma#configure(Bootstrap)} sees to that.
         *
         * @param policy the versions; {@link VersionPolicy#PREFER_V2} for version 2 where the peer has it
         * @return this
         */
        public Builder versions(VersionPolicy policy) {
            versions = Objects.requireNonNull(policy, "policy");
            return this;
        }

        /**
         * Sets what is understood of version 2 beyond the base protocol; the default is {@link RpcRdmaExtensions#NONE}.
         *
         * @param newExtensions header types, properties, errors and flags
         * @return this
         */
        public Builder extensions(RpcRdmaExtensions newExtensions) {
            extensions = Objects.requireNonNull(newExtensions, "newExtensions");
            return this;
        }

        /**
         * Sets what adds the handlers of {@link #extensions} to each pipeline; the default adds none. It finds the handlers of
         * this package in the pipeline, and none of the application. Of messages without a call, those
         * of {@linkplain HeaderType.Accounting#BOUNDED bounded} header types are held back by the {@link CreditGate}, and so have
         * to be written above it.
         *
         * @param adder called for each new connection, on its event loop
         * @return this
         */
        public Builder extensionHandlers(Consumer<ChannelPipeline> adder) {
            extensionHandlers = Objects.requireNonNull(adder, "adder");
            return this;
        }

        /**
         * Sets what the side that calls offers to its peers; the default is {@link PeerPolicy#CONSERVATIVE}. A server uses it for
         * calls of the reverse direction in version 2.
         *
         * @param policy the policy
         * @return this
         */
        public Builder peerPolicy(PeerPolicy policy) {
            peerPolicy = Objects.requireNonNull(policy, "policy");
            return this;
        }

        /**
         * Sets who is told how each answered call travelled; the default is nobody. A server tells calls of the reverse direction
         * in version 2.
         *
         * @param observer is told
         * @return this
         */
        public Builder callObserver(CallObserver observer) {
            callObserver = Objects.requireNonNull(observer, "observer");
            return this;
        }

        /**
         * Speaks with peers of the oldest form of the protocol too (draft-ietf-nfsv4-rpcrdma-02). The default is not to:
         * RDMA_DONE is dropped and counted, a reply with Read chunks fails its call, and the alignment hint of RDMA_MSGP is
         * ignored. With it
         * <ul>
         * <li>a server answers with Read chunks, which the client fetches, where it would refuse a reply as too large. This
         * opens memory of the server to its clients until they send RDMA_DONE or the profile's time is over; see
         * {@link LegacyProfile} for the costs and the bounds
         * <li>a client fetches such replies, bounded by {@link RpcRdmaLimits#maxMessageBytes()} and
         * {@link ResourceLimits#maxConnectionBytes()}, and answers with RDMA_DONE
         * <li>a server takes out the padding of RDMA_MSGP, as far as a {@link #binding} tells where it is. RDMA_MSGP is
         * never sent
         * </ul>
         * The Connection Configuration Protocol of that form needs no more than its {@link ConnectionConfigurationProgram}
         * as a {@link #program}.
         *
         * <p>A server needs {@link LegacyProfile#maxPendingReplies()} more receives; {@link RpcRdma#configure(ServerBootstrap)}
         * posts them, and where the channel has fewer, the credits get what is left.
         *
         * @param profile its bounds, for instance {@link LegacyProfile#DEFAULT}
         * @return this
         */
        public Builder legacy(LegacyProfile profile) {
            legacy = Objects.requireNonNull(profile, "profile");
            return this;
        }

        /**
         * Adds what is known about a program's data. At most one for each program.
         *
         * @param binding the binding
         * @return this
         */
        public Builder binding(UpperLayerBinding binding) {
            bindings.add(Objects.requireNonNull(binding, "binding"));
            return this;
        }

        /**
         * Opens the reverse direction (RFC 8167; rfc5666bis-01, section 8): the server calls the client on the connection
         * that the client made. Credits and XIDs of the two directions are independent of each other. On a server, the
         * {@link RpcClient} in the pipeline of a connection then calls that client; a client serves its {@link #program}s.
         *
         * <p>In version 2 such calls have everything that calls of the client have, as far as the client's Reverse Request Support
         * (version-two-08, section 4.2.2) goes; this library's is GENL with this and NONE without. A server calls only once the client
         * has sent its first message, which tells the version: until then its calls wait. Before the client's RDMA2_CONNPROP has
         * arrived they are INLINE.
         *
         * <p>In version 1, and with INLINE, such calls and their replies carry no chunks. A call above the inline threshold fails with
         * {@link RpcRdmaException} before it is sent; a reply above it becomes one with SYSTEM_ERR. Calls fail with the
         * connection, and a server can call again only when the client has connected again.
         *
         * <p>Version 1 does not say whether the peer has the reverse direction: the upper layer has to know before it
         * calls (section 8.3.1). A peer of this library without it refuses such calls with ERR_CHUNK; another peer may
         * drop them or end the connection.
         *
         * <p>Receives are needed for these credits besides those of {@link #credits}; {@link RpcRdma#configure(Bootstrap)}
         * posts them, and where the channel has fewer, the forward direction gets what is left.
         *
         * @param credits calls from server to client that may be in progress at once, 0 to 1024; default 0, which means none
         *                at all: calls of that direction are refused and counted
         * @return this
         * @throws IllegalArgumentException if it is out of its range
         */
        public Builder reverse(int credits) {
            reverseCredits = checkInRange(credits, 0, 1024, "credits");
            return this;
        }

        /**
         * Adds a program to serve: to clients on a server, to the server on a client with {@link #reverse}. The last handler
         * is then an {@link RpcServerHandler} with all of them, on a server with {@link #reverse} followed by an
         * {@link RpcClient}.
         *
         * @param program the program
         * @return this
         */
        public Builder program(RpcProgram program) {
            programs.add(Objects.requireNonNull(program, "program"));
            return this;
        }

        /**
         * Sets where the programs run; the default is the channel's event loop, where they must not block.
         *
         * @param newExecutor runs the programs
         * @return this
         */
        public Builder executor(Executor newExecutor) {
            executor = Objects.requireNonNull(newExecutor, "newExecutor");
            return this;
        }

        /**
         * Sets what adds the application's handlers to each pipeline, instead of the {@link RpcServerHandler} for
         * {@link #program}s on a server and the {@link RpcClient} on a client.
         *
         * @param adder called for each new connection, on its event loop
         * @return this
         */
        public Builder handlers(Consumer<ChannelPipeline> adder) {
            handlers = Objects.requireNonNull(adder, "adder");
            return this;
        }

        /**
         * Makes the initializer.
         *
         * @return what to set as the handler of a client or as the child handler of a server
         * @throws IllegalStateException    if a side that serves has neither programs nor handlers, or both, or if a client
         *                                  without {@link #reverse} has programs
         * @throws IllegalArgumentException if two bindings are for one program
         */
        public RpcRdma build() {
            boolean serves = server || reverseCredits > 0;
            if (serves && programs.isEmpty() == (handlers == null)) {
                throw new IllegalStateException("a side that serves calls needs programs or handlers, not both");
            }
            if (!serves && !programs.isEmpty()) {
                throw new IllegalStateException("a client serves programs in the reverse direction only");
            }
            return new RpcRdma(this);
        }

        private Consumer<ChannelPipeline> handlers() {
            if (handlers != null) {
                return handlers;
            }
            boolean calls = !server || reverseCredits > 0;
            List<RpcProgram> served = List.copyOf(programs);
            Executor runner = executor;
            long serveTimeoutMillis = resources.serveTimeoutMillis();
            return pipeline -> {
                if (!served.isEmpty()) {
                    pipeline.addLast(new RpcServerHandler(served, runner,
                            RpcServerHandler.DEFAULT_MAX_BYTES_IN_PROGRESS, serveTimeoutMillis));
                }
                if (calls) {
                    pipeline.addLast(new RpcClient());
                }
            };
        }
    }
}
