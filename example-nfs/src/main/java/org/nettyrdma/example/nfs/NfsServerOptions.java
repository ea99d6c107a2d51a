package org.nettyrdma.example.nfs;

import static io.netty.util.internal.ObjectUtil.checkInRange;
import static io.netty.util.internal.ObjectUtil.checkPositive;
import static java.util.Objects.requireNonNull;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Map;
import java.util.function.Supplier;
import org.nettyrdma.channel.IdleStrategy;
import org.nettyrdma.channel.Rdma;
import org.nettyrdma.example.nfs.server.NfsServiceOptions;
import org.nettyrdma.verbs.VerbsProvider;

/** Where and how a server listens. Not thread safe while it is being set. */
public final class NfsServerOptions {

    private static final int MAX_PORT = 65535;

    private final Map<Transport, Integer> ports = new EnumMap<>(Transport.class);
    private InetAddress bindAddress;
    private Path rpcbindSocket;
    private int eventLoops = 1;
    private int threads = 1 + Math.max(4, 2 * Runtime.getRuntime().availableProcessors());
    private IdleStrategy idleStrategy = IdleStrategy.ADAPTIVE;
    private Supplier<VerbsProvider> provider = Rdma::provider;
    private RdmaSettings rdmaSettings = RdmaSettings.DEFAULTS;
    private ConnectionLimits connectionLimits = ConnectionLimits.DEFAULTS;
    private NfsServiceOptions serviceOptions = NfsServiceOptions.DEFAULTS;
    private MeterRegistry meterRegistry = new CompositeMeterRegistry();

    /** Creates options with their defaults, which listen nowhere yet. */
    public NfsServerOptions() {
    }

    /**
     * Listens on a port.
     *
     * @param transport what to listen for
     * @param port 1 to 65535, or 0 for a port that the system chooses
     * @return this
     */
    public NfsServerOptions setPort(Transport transport, int port) {
        ports.put(transport, checkInRange(port, 0, MAX_PORT, "port"));
        return this;
    }

    /**
     * Sets the address to listen on; the default is every address of this machine.
     *
     * @param address an address of this machine
     * @return this
     */
    public NfsServerOptions setBindAddress(InetAddress address) {
        bindAddress = requireNonNull(address, "address");
        return this;
    }

    /**
     * Registers the programs with the rpcbind of this machine while the server runs; the default is not to.
     *
     * @param socket where rpcbind answers, usually
     *               {@link org.nettyrdma.codec.oncrpc.rpcbind.RpcbindClient#LOCAL_SOCKET}
     * @return this
     */
    public NfsServerOptions setRpcbindSocket(Path socket) {
        rpcbindSocket = requireNonNull(socket, "socket");
        return this;
    }

    /**
     * Sets how many event loops serve each transport; the default is 1. Each is a thread.
     *
     * @param loops number of event loops, more than 0
     * @return this
     */
    public NfsServerOptions setEventLoops(int loops) {
        eventLoops = checkPositive(loops, "eventLoops");
        return this;
    }

    /**
     * Sets how many threads work on the file system; the default is twice the number of processors, at least 4, and one more.
     * The calls of one address take all but one at most, so that slow ones do not hold up others. A single thread serves all.
     *
     * @param count number of threads, more than 0
     * @return this
     */
    public NfsServerOptions setThreads(int count) {
        threads = checkPositive(count, "threads");
        return this;
    }

    /**
     * Sets what carries {@link Transport#RDMA}; the default is {@link Rdma#provider()}.
     *
     * @param newProvider asked when the event loops are made; {@link ProviderChoice#provider} also uses shared memory
     * @return this
     */
    public NfsServerOptions setProvider(Supplier<VerbsProvider> newProvider) {
        provider = requireNonNull(newProvider, "newProvider");
        return this;
    }

    /**
     * Sets what an idle event loop of {@link Transport#RDMA} does; the default is {@link IdleStrategy#ADAPTIVE}.
     *
     * @param strategy the strategy
     * @return this
     */
    public NfsServerOptions setIdleStrategy(IdleStrategy strategy) {
        idleStrategy = requireNonNull(strategy, "strategy");
        return this;
    }

    /**
     * Sets what RDMA connections agree on; the default is {@link RdmaSettings#DEFAULTS}.
     *
     * @param settings credits and checksums
     * @return this
     */
    public NfsServerOptions setRdmaSettings(RdmaSettings settings) {
        rdmaSettings = requireNonNull(settings, "settings");
        return this;
    }

    /**
     * Sets how many connections there may be over each transport, and for how long they may be idle; the default is
     * {@link ConnectionLimits#DEFAULTS}.
     *
     * @param limits the limits
     * @return this
     */
    public NfsServerOptions setConnectionLimits(ConnectionLimits limits) {
        connectionLimits = requireNonNull(limits, "limits");
        return this;
    }

    /**
     * Sets the options of the NFS service.
     *
     * @param options limits and the place of lasting state
     * @return this
     */
    public NfsServerOptions setServiceOptions(NfsServiceOptions options) {
        serviceOptions = requireNonNull(options, "options");
        return this;
    }

    /**
     * Sets where the server's meters go; the default is nowhere.
     *
     * @param registry gets meters with the tag {@link Transport#ROLE_TAG} {@code server}
     * @return this
     */
    public NfsServerOptions setMeterRegistry(MeterRegistry registry) {
        meterRegistry = requireNonNull(registry, "registry");
        return this;
    }

    Map<Transport, Integer> ports() {
        return ports;
    }

    InetAddress bindAddress() {
        return bindAddress;
    }

    Path rpcbindSocket() {
        return rpcbindSocket;
    }

    int eventLoops() {
        return eventLoops;
    }

    int threads() {
        return threads;
    }

    Supplier<VerbsProvider> provider() {
        return provider;
    }

    RdmaSettings rdmaSettings() {
        return rdmaSettings;
    }

    ConnectionLimits connectionLimits() {
        return connectionLimits;
    }

    IdleStrategy idleStrategy() {
        return idleStrategy;
    }

    NfsServiceOptions serviceOptions() {
        return serviceOptions;
    }

    MeterRegistry meterRegistry() {
        return meterRegistry;
    }
}
