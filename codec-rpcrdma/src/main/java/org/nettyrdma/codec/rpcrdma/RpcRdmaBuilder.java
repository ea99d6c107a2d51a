package org.nettyrdma.codec.rpcrdma;

import static io.netty.util.internal.ObjectUtil.checkInRange;
import static io.netty.util.internal.ObjectUtil.checkPositiveOrZero;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.ChannelPipeline;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.nettyrdma.channel.RdmaChannelOption;
import org.nettyrdma.codec.oncrpc.IdleConnectionHandler;
import org.nettyrdma.codec.oncrpc.MemoryBudget;
import org.nettyrdma.codec.oncrpc.RpcCallListener;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcProgram;
import org.nettyrdma.codec.oncrpc.RpcServerHandler;
import org.nettyrdma.codec.oncrpc.TransferLimits;
import org.nettyrdma.codec.rpcrdma.header.HeaderExtensions;
import org.nettyrdma.codec.rpcrdma.header.HeaderType;
import org.nettyrdma.codec.rpcrdma.legacy.ConnectionConfigurationProgram;
import org.nettyrdma.codec.rpcrdma.legacy.LegacyProfile;
import org.nettyrdma.handler.credit.CreditGate;

/**
 * Configures a {@link RpcRdma}; {@link RpcRdma#client()} and {@link RpcRdma#server()} give a builder with the defaults. Not
 * thread safe.
 */
public final class RpcRdmaBuilder {

    final boolean server;
    final List<UpperLayerBinding> bindings = new ArrayList<>();
    final List<RpcProgram> programs = new ArrayList<>();
    /** {@code null} for the event loop. */
    Executor executor;
    RpcRdmaLimits limits = RpcRdmaLimits.DEFAULT;
    /** Whether the user has said how large a Send may be. */
    boolean isThresholdSet;
    ResourceLimits resources = ResourceLimits.DEFAULT;
    long idleTimeoutMillis;
    /** {@code null} for one of its own. */
    MemoryBudget memory;
    VersionPolicy versions = VersionPolicy.V1_ONLY;
    boolean remoteInvalidation = true;
    HeaderExtensions extensions = HeaderExtensions.NONE;
    PeerPolicy peerPolicy = PeerPolicy.CONSERVATIVE;
    /** {@code null} for nobody. */
    private RpcCallListener callListener;
    CallObserver callObserver = (program, version, procedure, call, reply) -> { };
    Consumer<ChannelPipeline> extensionHandlers = pipeline -> { };
    Consumer<ChannelPipeline> handlers;
    int reverseCredits;
    LegacyProfile legacy;

    RpcRdmaBuilder(boolean server) {
        this.server = server;
    }

    /**
     * Sets all limits; the default is {@link RpcRdmaLimits#DEFAULT}, with the inline threshold that
     * {@link #inlineThresholdBytes} tells of.
     *
     * @param newLimits the limits
     * @return this
     */
    public RpcRdmaBuilder limits(RpcRdmaLimits newLimits) {
        limits = Objects.requireNonNull(newLimits, "newLimits");
        isThresholdSet = true;
        return this;
    }

    /**
     * Sets how much memory and time calls may take; the default is {@link ResourceLimits#DEFAULT}. All connections of
     * what is built share the memory.
     *
     * @param newResources the limits
     * @return this
     */
    public RpcRdmaBuilder resources(ResourceLimits newResources) {
        resources = Objects.requireNonNull(newResources, "newResources");
        return this;
    }

    /**
     * Shares memory with other servers, for example with a server of the same programs over TCP. The default is a budget of its
     * own with {@link ResourceLimits#maxTotalBytes()}. That limit has no effect when a budget is set. Calls from server to client
     * ({@link #reverse}) have a budget of the same size for themselves, which is not shared.
     *
     * @param newMemory the memory of all calls in progress
     * @return this
     */
    public RpcRdmaBuilder memory(MemoryBudget newMemory) {
        memory = Objects.requireNonNull(newMemory, "newMemory");
        return this;
    }

    /**
     * Sets the time after which an idle connection is closed, with one line in the log. A connection is idle when no bytes move
     * and no call is in progress, in either direction; see {@link IdleConnectionHandler}. A call of this side whose caller has
     * given it up is not in progress. A server keeps receive buffers for each of its connections, whether they are used or not.
     *
     * @param millis the time in milliseconds; 0, the default, lets connections be idle for ever. Clients of such a
     *               server must be able to connect again
     * @return this
     * @throws IllegalArgumentException if it is negative
     */
    public RpcRdmaBuilder idleTimeoutMillis(long millis) {
        idleTimeoutMillis = checkPositiveOrZero(millis, "idleTimeoutMillis");
        return this;
    }

    /**
     * Sets how many calls may be in progress at once on a connection; see {@link RpcRdmaLimits#credits()}.
     *
     * @param credits 1 to 1024, default 128
     * @return this
     */
    public RpcRdmaBuilder credits(int credits) {
        limits = limits.withCredits(credits);
        return this;
    }

    /**
     * Sets the largest Send in each direction; see {@link RpcRdmaLimits#inlineThresholdBytes()}. Without a word of the user it is
     * 4096 bytes; but {@link RpcRdma#configure(Bootstrap)} asks for {@linkplain RdmaChannelOption#LONG_RECEIVES long receives},
     * and on a connection that has them it is their length: with the providers in software 69632 bytes, as long as there is
     * memory. With {@link #reverse} it stays 4096 bytes.
     *
     * @param bytes 1024 to 262144, a multiple of 1024, for every connection
     * @return this
     */
    public RpcRdmaBuilder inlineThresholdBytes(int bytes) {
        limits = limits.withInlineThresholdBytes(bytes);
        isThresholdSet = true;
        return this;
    }

    /**
     * Sets the largest RPC message; see {@link RpcRdmaLimits#maxMessageBytes()}.
     *
     * @param bytes 1024 to 17 MiB, default 1 MiB + 64 KiB
     * @return this
     */
    public RpcRdmaBuilder maxMessageBytes(int bytes) {
        limits = limits.withMaxMessageBytes(bytes);
        return this;
    }

    /**
     * Sets whether replies may be Sends with Invalidate. Such a reply withdraws memory of the calling side, which spares the
     * calling side a work request. In version 1 both sides have to want it, and a reply withdraws the handle of a call that has
     * only one (RFC 8797). In version 2 each call names the handle of its largest piece of memory, and its reply withdraws that
     * handle (version-two-08, section 3.3). The calling side withdraws all other handles before the caller sees the reply; with
     * {@code false} it withdraws all handles. A connection whose {@link RdmaChannelOption#PRIVATE_DATA} was set by the
     * application follows the flag in that data.
     *
     * @param wanted {@code false} for plain Sends in both directions; default {@code true}, which takes effect on connections
     *               whose provider has Send with Invalidate
     * @return this
     */
    public RpcRdmaBuilder remoteInvalidation(boolean wanted) {
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
    public RpcRdmaBuilder versions(VersionPolicy policy) {
        versions = Objects.requireNonNull(policy, "policy");
        return this;
    }

    /**
     * Sets the extensions of version 2 that this side understands; the default is {@link HeaderExtensions#NONE}.
     *
     * @param newExtensions header types, properties, errors and flags
     * @return this
     */
    public RpcRdmaBuilder extensions(HeaderExtensions newExtensions) {
        extensions = Objects.requireNonNull(newExtensions, "newExtensions");
        return this;
    }

    /**
     * Sets a function that adds the handlers of {@link #extensions} to each pipeline; the default adds none. The function finds
     * the handlers of this library in the pipeline, and none of the application. The {@link CreditGate} holds messages of
     * {@linkplain HeaderType.Accounting#BOUNDED bounded} header types back, so they have to be written above it.
     *
     * @param adder called for each new connection, on its event loop
     * @return this
     */
    public RpcRdmaBuilder extensionHandlers(Consumer<ChannelPipeline> adder) {
        extensionHandlers = Objects.requireNonNull(adder, "adder");
        return this;
    }

    /**
     * Sets which chunks the calling side offers to its peers; the default is {@link PeerPolicy#CONSERVATIVE}. A server uses it
     * for calls of the reverse direction in version 2.
     *
     * @param policy the policy
     * @return this
     */
    public RpcRdmaBuilder peerPolicy(PeerPolicy policy) {
        peerPolicy = Objects.requireNonNull(policy, "policy");
        return this;
    }

    /**
     * Sets an observer that is told how each answered call travelled; the default is none. On a server it is told calls of the
     * reverse direction in version 2.
     *
     * @param observer the observer
     * @return this
     */
    public RpcRdmaBuilder callObserver(CallObserver observer) {
        callObserver = Objects.requireNonNull(observer, "observer");
        return this;
    }

    /**
     * Sets who is told of each call when it has ended, and how long it took; the default is nobody. It is told calls in both
     * directions. It does not work with {@link #handlers}, which may add {@link RpcCallListener#addTo} by themselves.
     *
     * @param listener for instance an {@link org.nettyrdma.codec.oncrpc.RpcCallMetrics}
     * @return this
     */
    public RpcRdmaBuilder callListener(RpcCallListener listener) {
        callListener = Objects.requireNonNull(listener, "listener");
        return this;
    }

    /**
     * Speaks with peers of the oldest form of the protocol, too (draft-ietf-nfsv4-rpcrdma-02). By default it is off:
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
     * posts them. If the channel has fewer receives, the credits are lowered.
     *
     * @param profile its bounds, for instance {@link LegacyProfile#DEFAULT}
     * @return this
     */
    public RpcRdmaBuilder legacy(LegacyProfile profile) {
        legacy = Objects.requireNonNull(profile, "profile");
        return this;
    }

    /**
     * Adds a binding, which describes the data of a program. At most one for each program.
     *
     * @param binding the binding
     * @return this
     */
    public RpcRdmaBuilder binding(UpperLayerBinding binding) {
        bindings.add(Objects.requireNonNull(binding, "binding"));
        return this;
    }

    /**
     * Opens the reverse direction (RFC 8167): the server calls the client on the connection
     * that the client made. Credits and XIDs of the two directions are independent of each other. On a server, the
     * {@link RpcClient} in the pipeline of a connection then calls that client; a client serves its {@link #program}s.
     *
     * <p>In version 2 such calls can have chunks like calls of the client, if the client's Reverse Request Support
     * (version-two-08, section 4.2.2) allows it. A client of this library announces GENL with this method, and NONE without it. A
     * server calls only after the first message of the client, which tells the version. Until then its calls wait. Before the
     * client's RDMA2_CONNPROP has arrived they are INLINE.
     *
     * <p>In version 1, and with INLINE, such calls and their replies carry no chunks. A call above the inline threshold fails
     * with {@link RpcRdmaException} before it is sent. A reply above the inline threshold is replaced by a reply with SYSTEM_ERR.
     * Calls fail with the connection, and a server can call again only when the client has connected again.
     *
     * <p>Version 1 does not say whether the peer has the reverse direction: the upper layer has to know before it
     * calls (RFC 8167, section 6). A peer of this library without it refuses such calls with ERR_CHUNK; another peer may
     * drop them or end the connection.
     *
     * <p>These credits need receives besides those of {@link #credits}; {@link RpcRdma#configure(Bootstrap)}
     * posts them. If the channel has fewer receives, the credits of the forward direction are lowered.
     *
     * @param credits calls from server to client that may be in progress at once, 0 to 1024; default 0, with which calls of that
     *                direction are refused and counted
     * @return this
     * @throws IllegalArgumentException if it is out of its range
     */
    public RpcRdmaBuilder reverse(int credits) {
        reverseCredits = checkInRange(credits, 0, 1024, "reverse");
        return this;
    }

    /**
     * Adds a program to serve. A server serves its clients. A client with {@link #reverse} serves its server. The last handler of
     * the pipeline is then an {@link RpcServerHandler} with all programs. On a server with {@link #reverse} an {@link RpcClient}
     * follows it.
     *
     * @param program the program
     * @return this
     */
    public RpcRdmaBuilder program(RpcProgram program) {
        programs.add(Objects.requireNonNull(program, "program"));
        return this;
    }

    /**
     * Sets the executor of the programs. The default is the event loop of the channel, where programs must not block. It does
     * not work with {@link #handlers}, which may add a {@link RpcServerHandler} with an executor by themselves. The calls of all
     * connections take turns, together with those of other servers with the same executor; see {@link RpcServerHandler}. With
     * a {@link org.nettyrdma.codec.oncrpc.CallExecutor} the calls of one address do not hold all threads.
     *
     * @param newExecutor runs the programs
     * @return this
     */
    public RpcRdmaBuilder executor(Executor newExecutor) {
        executor = Objects.requireNonNull(newExecutor, "newExecutor");
        return this;
    }

    /**
     * Sets a function that adds the handlers of the application to each pipeline, instead of the {@link RpcServerHandler} for
     * {@link #program}s on a server and the {@link RpcClient} on a client.
     *
     * @param adder called for each new connection, on its event loop
     * @return this
     */
    public RpcRdmaBuilder handlers(Consumer<ChannelPipeline> adder) {
        handlers = Objects.requireNonNull(adder, "adder");
        return this;
    }

    /**
     * Makes the initializer.
     *
     * @return what to set as the handler of a client or as the child handler of a server
     * @throws IllegalStateException    if a side that serves has neither programs nor handlers, or both, if a client without
     *                                  {@link #reverse} has programs, if there is an {@link #executor} without programs, or a
     *                                  {@link #callListener} with handlers
     * @throws IllegalArgumentException if two bindings are for one program, two programs share a number and a version, or a
     *                                  program has no version
     */
    public RpcRdma build() {
        boolean serves = server || reverseCredits > 0;
        if (serves && programs.isEmpty() == (handlers == null)) {
            throw new IllegalStateException("a side that serves calls needs programs or handlers, not both");
        }
        if (!serves && !programs.isEmpty()) {
            throw new IllegalStateException("a client serves programs in the reverse direction only");
        }
        if (executor != null && programs.isEmpty()) {
            throw new IllegalStateException("an executor runs programs, and there are none");
        }
        if (callListener != null && handlers != null) {
            throw new IllegalStateException("with handlers a callListener is told nothing: they add RpcCallListener.addTo");
        }
        return new RpcRdma(this);
    }

    Consumer<ChannelPipeline> handlers() {
        if (handlers != null) {
            return handlers;
        }
        boolean calls = !server || reverseCredits > 0;
        List<RpcProgram> served = List.copyOf(programs);
        Executor runner = executor;
        long serveTimeoutMillis = resources.serveTimeoutMillis();
        RpcCallListener timed = callListener;
        Supplier<RpcServerHandler> serverHandlers = () -> new RpcServerHandler(served, runner,
                RpcServerHandler.DEFAULT_MAX_BYTES_IN_PROGRESS, serveTimeoutMillis, null, TransferLimits.DEFAULT);
        serverHandlers.get(); // refuses programs here that it would refuse for each connection
        return pipeline -> {
            RpcCallListener.addTo(pipeline, timed);
            if (!served.isEmpty()) {
                pipeline.addLast(serverHandlers.get());
            }
            if (calls) {
                pipeline.addLast(new RpcClient());
            }
        };
    }
}
