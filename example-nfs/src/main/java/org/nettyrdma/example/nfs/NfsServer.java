package org.nettyrdma.example.nfs;

import static io.netty.util.internal.ObjectUtil.checkInRange;

import io.micrometer.core.instrument.Tags;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.EventLoopGroup;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.codec.oncrpc.CallExecutor;
import org.nettyrdma.codec.oncrpc.DuplicateRequestMetrics;
import org.nettyrdma.codec.oncrpc.GracefulShutdown;
import org.nettyrdma.codec.oncrpc.MemoryBudget;
import org.nettyrdma.codec.oncrpc.RpcProgram;
import org.nettyrdma.codec.oncrpc.RpcServerHandler;
import org.nettyrdma.codec.oncrpc.TransferLimits;
import org.nettyrdma.example.nfs.server.Export;
import org.nettyrdma.example.nfs.server.NfsService;
import org.nettyrdma.example.nfs.server.NfsServiceOptions;

/**
 * A server that answers NFS version 3 and MOUNT version 3 over RDMA, TCP or both, with the same program objects. Any thread may
 * use it, except that {@link #start}, {@link #shutDown} and {@link #close} wait and must not be called on an event loop.
 *
 * <p><b>Language.</b> Java passes on of an error of the file system only its text. Set {@code LANGUAGE=C} for the process where
 * its locale may speak another language than English: in others a full disk, among others, becomes {@code NFS3ERR_IO}, and makes
 * all clients write again what is not stable.
 */
public final class NfsServer implements AutoCloseable {

    private static final long CLOSE_TIMEOUT_MILLIS = 10_000;

    private final NfsService service;
    private final ExecutorService executor;
    /** The same threads: an address leaves one to others, where there are two. */
    private final CallExecutor calls;
    private final List<EventLoopGroup> groups = new ArrayList<>();
    private final Map<Transport, Channel> channels = new EnumMap<>(Transport.class);
    private final GracefulShutdown shutdown = new GracefulShutdown();
    private final RpcbindRegistrations registrations;
    /** What the calls of all connections take, over both transports. */
    private final MemoryBudget memory;

    private NfsServer(NfsService service, int threads, RpcbindRegistrations registrations, MemoryBudget memory) {
        this.memory = memory;
        this.service = service;
        executor = Executors.newFixedThreadPool(threads, new DefaultThreadFactory("nfs-server", true));
        calls = new CallExecutor(executor, Math.max(1, threads - 1));
        this.registrations = registrations;
    }

    /**
     * Starts a server, and returns when it listens on all ports and is registered with rpcbind, if the options say so.
     *
     * @param export what to serve
     * @param options where to listen
     * @return the server
     * @throws IOException if it cannot listen on a port, rpcbind refuses to register it, or the state of the export cannot be
     *         read
     * @throws IllegalArgumentException if the options name no port, or allow longer transfers than
     *         {@link Transport#MAX_DATA_BYTES}, which no connection takes
     */
    public static NfsServer start(Export export, NfsServerOptions options) throws IOException {
        if (options.ports().isEmpty()) {
            throw new IllegalArgumentException("the options name no port to listen on");
        }
        NfsServiceOptions limits = options.serviceOptions();
        checkInRange(limits.maxReadBytes(), 1, Transport.MAX_DATA_BYTES, "maxReadBytes");
        checkInRange(limits.maxWriteBytes(), 1, Transport.MAX_DATA_BYTES, "maxWriteBytes");
        NfsService service = new NfsService(export, options.serviceOptions());
        service.statistics().bindTo(options.meterRegistry());
        new DuplicateRequestMetrics(service.duplicates(), Tags.empty()).bindTo(options.meterRegistry());
        NfsServer server = new NfsServer(service, options.threads(), new RpcbindRegistrations(options.rpcbindSocket()),
                new MemoryBudget(MemoryBudget.DEFAULT_MAX_BYTES));
        try {
            for (Map.Entry<Transport, Integer> port : options.ports().entrySet()) {
                server.listen(port.getKey(), port.getValue(), options);
            }
            if (options.rpcbindSocket() != null) {
                server.register();
            }
            return server;
        } catch (IOException | RuntimeException e) {
            server.close();
            throw e;
        }
    }

    private void listen(Transport transport, int port, NfsServerOptions options) throws IOException {
        EventLoopGroup group = transport.newEventLoopGroup(options.eventLoops(), "nfs-" + transport.scheme(),
                options.idleStrategy(), options.provider());
        groups.add(group);
        List<RpcProgram> programs = List.of(service.nfsProgram(), service.mountProgram());
        InetSocketAddress address = options.bindAddress() == null ? new InetSocketAddress(port)
                : new InetSocketAddress(options.bindAddress(), port);
        ServerBootstrap bootstrap = transport.newServerBootstrap(group, () -> newHandler(transport, programs),
                options.meterRegistry(), options.rdmaSettings(), options.connectionLimits(), memory);
        ChannelFuture bound = shutdown.collect(bootstrap).bind(address).awaitUninterruptibly();
        if (!bound.isSuccess()) {
            String at = options.bindAddress() == null ? "" : " of " + NetUtil.toAddressString(options.bindAddress());
            throw new IOException("cannot listen on " + transport.scheme() + " port " + port + at + ": "
                    + bound.cause().getMessage(), bound.cause());
        }
        channels.put(transport, bound.channel());
    }

    /** Calls over RDMA offer room for their replies, and are counted by that; here those over TCP are, as they do not. */
    private RpcServerHandler newHandler(Transport transport, List<RpcProgram> programs) {
        return new RpcServerHandler(programs, calls, RpcServerHandler.DEFAULT_MAX_BYTES_IN_PROGRESS,
                RpcServerHandler.DEFAULT_SERVE_TIMEOUT_MILLIS, transport == Transport.TCP ? memory : null,
                TransferLimits.DEFAULT);
    }

    private void register() throws IOException {
        Map<Transport, InetSocketAddress> addresses = new EnumMap<>(Transport.class);
        channels.keySet().forEach(transport -> addresses.put(transport, address(transport)));
        registrations.register(RpcbindRegistrations.entries(addresses));
    }

    /**
     * Returns where the server listens.
     *
     * @param transport one that the options named a port for
     * @return the address with the port that the system chose, if it was left to it; {@code null} for another transport
     */
    public InetSocketAddress address(Transport transport) {
        Channel channel = channels.get(transport);
        return channel == null ? null : (InetSocketAddress) channel.localAddress();
    }

    /** Ends the server without waiting for clients; as {@link #shutDown} with no time. A second call does nothing. */
    @Override
    public void close() {
        shutDown(0);
    }

    /**
     * Takes registrations with rpcbind back, stops listening, ends all connections as {@link GracefulShutdown} describes, lets
     * calls that are being carried out end, and waits for all of that. A second call does nothing.
     *
     * @param timeoutMillis how long calls may take to be answered, in milliseconds; 0 closes all connections at once
     * @return how many connections had to be closed because the time was over
     */
    public int shutDown(long timeoutMillis) {
        registrations.close();
        Future<Integer> ended = shutdown.start(timeoutMillis);
        ended.awaitUninterruptibly(timeoutMillis + CLOSE_TIMEOUT_MILLIS);
        groups.forEach(group -> group.shutdownGracefully(0, CLOSE_TIMEOUT_MILLIS, TimeUnit.MILLISECONDS));
        groups.forEach(group -> group.terminationFuture().awaitUninterruptibly(CLOSE_TIMEOUT_MILLIS));
        executor.shutdown();
        try {
            executor.awaitTermination(CLOSE_TIMEOUT_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        service.close();
        return ended.isSuccess() ? ended.getNow() : 0;
    }
}
