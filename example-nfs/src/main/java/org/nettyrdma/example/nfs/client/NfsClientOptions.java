package org.nettyrdma.example.nfs.client;

import static io.netty.util.internal.ObjectUtil.checkInRange;
import static io.netty.util.internal.ObjectUtil.checkPositive;
import static java.util.Objects.requireNonNull;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.Supplier;
import org.nettyrdma.channel.Rdma;
import org.nettyrdma.codec.oncrpc.AuthSys;
import org.nettyrdma.codec.oncrpc.OpaqueAuth;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.rpcbind.RpcbindClient;
import org.nettyrdma.example.nfs.ProviderChoice;
import org.nettyrdma.example.nfs.RdmaSettings;
import org.nettyrdma.example.nfs.Transport;
import org.nettyrdma.verbs.VerbsProvider;

/** How a client connects and calls. Not thread safe while it is being set. */
public final class NfsClientOptions {

    private static final int MAX_PORT = 65535;

    private OpaqueAuth credential = new AuthSys(0, "localhost", 0, 0, List.of()).toOpaqueAuth();
    private long callTimeoutMillis = RpcClient.DEFAULT_CALL_TIMEOUT_MILLIS;
    private int connectTimeoutMillis = 10_000;
    private OptionalInt mountPort = OptionalInt.empty();
    private boolean usesRpcbind;
    private int rpcbindPort = RpcbindClient.PORT;
    private Supplier<VerbsProvider> provider = Rdma::provider;
    private RdmaSettings rdmaSettings = RdmaSettings.DEFAULTS;
    private NfsClientStatistics statistics = new NfsClientStatistics();
    private MeterRegistry meterRegistry = new CompositeMeterRegistry();

    /** Creates options with their defaults. */
    public NfsClientOptions() {
    }

    /**
     * Sets who calls; the default is AUTH_SYS with user and group 0.
     *
     * @param newCredential the credential of all NFS and MOUNT calls
     * @return this
     */
    public NfsClientOptions setCredential(OpaqueAuth newCredential) {
        credential = requireNonNull(newCredential, "newCredential");
        return this;
    }

    /**
     * Sets how long a call waits for its reply; the default is 60,000.
     *
     * @param millis milliseconds, more than 0
     * @return this
     */
    public NfsClientOptions setCallTimeoutMillis(long millis) {
        callTimeoutMillis = checkPositive(millis, "callTimeoutMillis");
        return this;
    }

    /**
     * Sets how long an attempt to connect may take; the default is 10,000.
     *
     * @param millis milliseconds, more than 0
     * @return this
     */
    public NfsClientOptions setConnectTimeoutMillis(int millis) {
        connectTimeoutMillis = checkPositive(millis, "connectTimeoutMillis");
        return this;
    }

    /**
     * Sets the TCP port where MOUNT is answered. By default it is asked on the NFS connection itself, and if the program is
     * not there, on the port that rpcbind names.
     *
     * @param port port number, 1 to 65535
     * @return this
     */
    public NfsClientOptions setMountPort(int port) {
        mountPort = OptionalInt.of(checkInRange(port, 1, MAX_PORT, "mountPort"));
        return this;
    }

    /**
     * Says whether the server's rpcbind is asked for the port of NFS; the default is no. The port of an endpoint does not
     * count then.
     *
     * @param uses {@code true} to ask
     * @return this
     */
    public NfsClientOptions setUsesRpcbind(boolean uses) {
        usesRpcbind = uses;
        return this;
    }

    /**
     * Sets the TCP port where the server's rpcbind answers; the default is {@value RpcbindClient#PORT}.
     *
     * @param port port number, 1 to 65535
     * @return this
     */
    public NfsClientOptions setRpcbindPort(int port) {
        rpcbindPort = checkInRange(port, 1, MAX_PORT, "rpcbindPort");
        return this;
    }

    /**
     * Sets what counts the calls; the default is an object of its own for each options object.
     *
     * @param newStatistics counts calls
     * @return this
     */
    public NfsClientOptions setStatistics(NfsClientStatistics newStatistics) {
        statistics = requireNonNull(newStatistics, "newStatistics");
        return this;
    }

    /**
     * Sets what carries {@link Transport#RDMA}; the default is {@link Rdma#provider()}.
     *
     * @param newProvider asked when the event loops are made; {@link ProviderChoice#provider} also uses shared memory
     * @return this
     */
    public NfsClientOptions setProvider(Supplier<VerbsProvider> newProvider) {
        provider = requireNonNull(newProvider, "newProvider");
        return this;
    }

    /**
     * Sets what RDMA connections agree on; the default is {@link RdmaSettings#DEFAULTS}.
     *
     * @param settings credits and checksums
     * @return this
     */
    public NfsClientOptions setRdmaSettings(RdmaSettings settings) {
        rdmaSettings = requireNonNull(settings, "settings");
        return this;
    }

    /**
     * Sets where the meters of the connection go; the default is nowhere. A registry takes those of one session: a second
     * one's have the same names and are left out. {@link NfsClientStatistics} is bound by who made it.
     *
     * @param registry gets meters with the tag {@code role} {@code client}
     * @return this
     */
    public NfsClientOptions setMeterRegistry(MeterRegistry registry) {
        meterRegistry = requireNonNull(registry, "registry");
        return this;
    }

    OpaqueAuth credential() {
        return credential;
    }

    long callTimeoutMillis() {
        return callTimeoutMillis;
    }

    int connectTimeoutMillis() {
        return connectTimeoutMillis;
    }

    OptionalInt mountPort() {
        return mountPort;
    }

    boolean usesRpcbind() {
        return usesRpcbind;
    }

    int rpcbindPort() {
        return rpcbindPort;
    }

    Supplier<VerbsProvider> provider() {
        return provider;
    }

    RdmaSettings rdmaSettings() {
        return rdmaSettings;
    }

    MeterRegistry meterRegistry() {
        return meterRegistry;
    }

    NfsClientStatistics statistics() {
        return statistics;
    }
}
