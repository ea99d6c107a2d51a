package org.nettyrdma.example.nfs.cli;

import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.netty.util.NetUtil;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.nettyrdma.channel.IdleStrategy;
import org.nettyrdma.example.nfs.NfsServer;
import org.nettyrdma.example.nfs.NfsServerOptions;
import org.nettyrdma.example.nfs.ProviderChoice;
import org.nettyrdma.example.nfs.Transport;
import org.nettyrdma.example.nfs.client.NfsEndpoint;
import org.nettyrdma.example.nfs.server.Export;
import org.nettyrdma.example.nfs.server.MemoryFileSystem;
import org.nettyrdma.example.nfs.server.NfsServiceOptions;
import org.nettyrdma.example.nfs.server.Squash;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code nfs serve}. */
@Command(name = "serve",
        description = {"Serves a folder, or an empty file system in memory, with NFS and MOUNT version 3 over RDMA.",
            "SIGTERM or Ctrl-C ends it in good order, with exit code 0: it answers the calls that have come, and takes no more."},
        footerHeading = "%nExamples:%n",
        footer = {"  nfs serve                                   in memory, on port 20049",
            "  nfs serve --export /srv/data --read-only",
            "  nfs serve --export /srv/data --bind ::1 --port 20050 --tcp-port 2050",
            "  nfs serve --port 0 --rpcbind                any free port, for ls --rpcbind",
            "", "As a service: example-nfs/systemd/nfs-rdma.service; in a container: example-nfs/docker."})
final class ServeCommand implements Callable<Integer> {

    /** Threads that have work to do at the end of the process: the files of shared memory, and a flight recording. */
    private static final Set<String> HOOKS = Set.of("netty-rdma-shm-files", "JFR Shutdown Hook");
    private static final int LONGEST_HOOK_MILLIS = 30_000;

    @Spec
    private CommandSpec spec;

    @Option(names = "--port", paramLabel = "PORT", defaultValue = "20049", converter = NumberConverter.PortOrAny.class,
            description = "RDMA port, 0 for any free one; default: ${DEFAULT-VALUE}.")
    private int port;

    @Option(names = "--tcp-port", paramLabel = "PORT", converter = NumberConverter.PortOrAny.class,
            description = "Serve over TCP too, on this port, 0 for any free one.")
    private Optional<Integer> tcpPort = Optional.empty();

    @Option(names = "--bind", paramLabel = "ADDRESS", converter = BindConverter.class,
            description = "Listen on this address only; default: on all.")
    private InetAddress bindAddress;

    @Option(names = "--metrics-port", paramLabel = "PORT", converter = NumberConverter.PortOrAny.class,
            description = "Show meters to Prometheus at http://127.0.0.1:PORT/metrics, 0 for any free port.")
    private Optional<Integer> metricsPort = Optional.empty();

    @Option(names = "--metrics-bind", paramLabel = "ADDRESS", converter = BindConverter.class,
            description = "Show them on this address instead.")
    private InetAddress metricsAddress;

    @Option(names = "--rpcbind", paramLabel = "SOCKET", arity = "0..1", fallbackValue = "/run/rpcbind.sock",
            description = "Register NFS and MOUNT with the rpcbind of this machine, for rdma, rdma6, tcp and tcp6 as far as they "
                    + "are served, until the end; SOCKET without a value: ${FALLBACK-VALUE}.")
    private Path rpcbindSocket;

    @Option(names = "--export", paramLabel = "DIR", description = "Folder to serve; default: a new file system in memory.")
    private Path exported;

    @Option(names = "--read-only", description = "Refuse all changes.")
    private boolean readOnly;

    @Option(names = "--no-root-squash", description = "Let user 0 of clients be user 0 here; default: it becomes 65534.")
    private boolean noRootSquash;

    @Option(names = "--all-squash",
            description = "Let all users of clients be the user of this server, with its groups, or 65534 if that is user 0.")
    private boolean allSquash;

    @Option(names = "--async",
            description = "Answer before changed names and attributes are on the disk: faster, but what was answered just before "
                    + "the machine loses its power may be undone. What WRITE and COMMIT say holds either way.")
    private boolean async;

    @Option(names = "--state-dir", paramLabel = "DIR",
            description = "Where the key of file handles is kept, so that they outlive a restart; "
                    + "default: below ~/.local/state, and nowhere for a file system in memory.")
    private Path stateDirectory;

    @Option(names = "--threads", paramLabel = "N", converter = NumberConverter.Threads.class,
            description = "Threads that work on files, of which one address leaves one to others; "
                    + "default: twice the number of processors, at least 4, and one more.")
    private Optional<Integer> threads = Optional.empty();

    @Option(names = "--event-loops", paramLabel = "N", defaultValue = "1", converter = NumberConverter.Threads.class,
            description = "Event loops of each transport; default: ${DEFAULT-VALUE}.")
    private int eventLoops;

    @Option(names = "--idle", paramLabel = "STRATEGY", defaultValue = "adaptive",
            description = "What an idle event loop does: ${COMPLETION-CANDIDATES}; default: ${DEFAULT-VALUE}.")
    private IdleStrategy idleStrategy;

    @Mixin
    private ConnectionOptions connections;

    @Mixin
    private RdmaOptions rdma;

    @Mixin
    private StatisticsOption statistics;

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (metricsAddress != null && metricsPort.isEmpty()) {
            throw new ParameterException(spec.commandLine(), "--metrics-bind is for --metrics-port only");
        }
        if (allSquash && noRootSquash) {
            throw new ParameterException(spec.commandLine(), "--all-squash and --no-root-squash exclude each other");
        }
        if (exported != null && !Files.isDirectory(exported)) {
            throw new NotDirectoryException(exported.toString());
        }
        try (FileSystem memory = exported == null ? MemoryFileSystem.create(Runtime.getRuntime().maxMemory() / 2) : null) {
            Path root = memory == null ? exported.toRealPath() : memory.getPath("/");
            Export export = export(root, squash(), ProcessUser.current()).withReadOnly(readOnly);
            CompositeMeterRegistry meters = new CompositeMeterRegistry();
            statistics.addTo(meters);
            MetricsEndpoint metrics = startMetrics(meters);
            NfsServer server = NfsServer.start(export, options(root, memory != null).setMeterRegistry(meters));
            printAddresses(server, memory == null ? root.toString() : "a file system in memory");
            printMetrics(metrics);
            closeAtEndOfProcess(server);
            new CountDownLatch(1).await();
            return ExitCode.OK;
        }
    }

    private Squash squash() {
        return allSquash ? Squash.ALL : noRootSquash ? Squash.NONE : Squash.ROOT;
    }

    static Export export(Path root, Squash squash, ProcessUser user) {
        Export export = Export.of(root).withSquash(squash);
        return squash == Squash.ALL && !user.isRoot()
                ? export.withAnonymous(user.userId(), user.groupId(), user.groupIds()) : export;
    }

    private NfsServerOptions options(Path root, boolean inMemory) {
        NfsServerOptions options = new NfsServerOptions().setPort(Transport.RDMA, port)
                .setEventLoops(eventLoops).setIdleStrategy(idleStrategy).setProvider(ProviderChoice::provider)
                .setRdmaSettings(rdma.toSettings())
                .setConnectionLimits(connections.toLimits());
        tcpPort.ifPresent(value -> options.setPort(Transport.TCP, value));
        threads.ifPresent(options::setThreads);
        if (rpcbindSocket != null) {
            options.setRpcbindSocket(rpcbindSocket);
        }
        if (bindAddress != null) {
            options.setBindAddress(bindAddress);
        }
        Path state = stateDirectory != null || inMemory ? stateDirectory : NfsServiceOptions.defaultStateDirectory(root);
        NfsServiceOptions service = NfsServiceOptions.DEFAULTS.withStateDirectory(state).withAsync(async);
        // Half of the memory is for what is in files: without this bound a client can fill the rest with empty ones.
        return options.setServiceOptions(inMemory ? service.withMaxNameBytes(Runtime.getRuntime().maxMemory() / 8) : service);
    }

    private MetricsEndpoint startMetrics(CompositeMeterRegistry meters) throws IOException {
        if (metricsPort.isEmpty()) {
            return null;
        }
        InetAddress address = metricsAddress != null ? metricsAddress : InetAddress.getLoopbackAddress();
        MetricsEndpoint endpoint = MetricsEndpoint.start(new InetSocketAddress(address, metricsPort.get()));
        meters.add(endpoint.registry());
        return endpoint;
    }

    private void printMetrics(MetricsEndpoint metrics) {
        if (metrics != null) {
            PrintWriter out = spec.commandLine().getOut();
            out.println("meters on http://" + NetUtil.toSocketAddressString(metrics.address()) + "/metrics");
            out.flush();
        }
    }

    private void printAddresses(NfsServer server, String what) {
        PrintWriter out = spec.commandLine().getOut();
        for (Transport transport : Transport.values()) {
            InetSocketAddress address = server.address(transport);
            if (address != null) {
                out.println("serving " + what + (readOnly ? " (read-only)" : "") + " on "
                        + new NfsEndpoint(transport, NetUtil.toAddressString(address.getAddress()), address.getPort(), "/"));
            }
        }
        if (exported != null) {
            out.print(ownersHint(ProcessUser.current(), squash()));
        }
        out.flush();
    }

    /** Whom of the clients a folder is of little use to if that user serves it: a line, or nothing. */
    static String ownersHint(ProcessUser user, Squash squash) {
        if (user.isRoot()) {
            return switch (squash) {
                case NONE -> "";
                case ROOT -> "user 0 of clients is user 65534 here and may do little; --no-root-squash makes it user 0\n";
                case ALL -> "all users of clients are user 65534 here and may do little\n";
            };
        }
        String id = Integer.toUnsignedString(user.userId());
        if (squash == Squash.ALL) {
            return "all users of clients are user " + id + " here, as whom this server runs\n";
        }
        return "new files belong to user " + id + ", as whom this server runs; of the users of clients only that one"
                + (squash == Squash.NONE ? " and user 0 have" : " has")
                + " the rights of an owner; --all-squash makes all that one\n";
    }

    /** A process that a signal ends would report the signal and not success, hence the explicit exit code. */
    private void closeAtEndOfProcess(NfsServer server) {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            int cut = server.shutDown(connections.drainMillis());
            if (cut > 0) {
                spec.commandLine().getErr().println("closed " + cut + " connections whose calls were not answered in time");
            }
            statistics.print(spec.commandLine().getErr());
            awaitOtherHooks();
            Runtime.getRuntime().halt(ExitCode.OK);
        }, "nfs-shutdown"));
    }

    /** They run at the same time, and what they have not done is lost: files that take memory stay, a recording is empty. */
    private static void awaitOtherHooks() {
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (HOOKS.contains(thread.getName())) {
                try {
                    thread.join(LONGEST_HOOK_MILLIS);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }
        }
    }
}
