package org.nettyrdma.example.nfs;

import io.micrometer.core.instrument.MeterRegistry;
import io.netty.util.NetUtil;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.FileSystem;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.nettyrdma.example.nfs.client.NfsClientOptions;
import org.nettyrdma.example.nfs.client.NfsEndpoint;
import org.nettyrdma.example.nfs.client.NfsSession;
import org.nettyrdma.example.nfs.server.Export;
import org.nettyrdma.example.nfs.server.MemoryFileSystem;
import org.nettyrdma.example.nfs.server.NfsServiceOptions;
import org.nettyrdma.example.nfs.server.Squash;

/** A server for tests: a file system in memory, over both transports, on ports of loopback that the system chose. */
public final class TestServer implements AutoCloseable {

    private static final long MAX_BYTES = 256L << 20;

    private final FileSystem memory = MemoryFileSystem.create(MAX_BYTES);
    private final NfsServerOptions options;
    /** Bound to the ports, so that the system gives them to nobody else while {@link #restart} has nobody listen there. */
    private final List<Socket> ports = new ArrayList<>();
    private Export export;
    private NfsServer server;

    private TestServer(NfsServerOptions options, String exportName) throws IOException {
        this.options = options.setBindAddress(NetUtil.LOCALHOST);
        for (Transport transport : Transport.values()) {
            Socket port = new Socket();
            ports.add(port);
            port.setReuseAddress(true);
            port.bind(new InetSocketAddress(NetUtil.LOCALHOST, 0));
            options.setPort(transport, port.getLocalPort());
        }
        export = Export.of(memory.getPath("/")).withName(exportName).withSquash(Squash.NONE);
        server = NfsServer.start(export, options);
    }

    /** The same with an export that nobody may change, but through {@link #root()}. */
    public void restartReadOnly() throws IOException {
        export = export.withReadOnly(true);
        restart();
    }

    /** Ends the server as if its time were over, and starts another one with the same files at the same ports. */
    public void restart() throws IOException {
        server.close();
        server = NfsServer.start(export, options);
    }

    public static TestServer start() throws IOException {
        return new TestServer(new NfsServerOptions(), "/");
    }

    public static TestServer start(RdmaSettings settings) throws IOException {
        return new TestServer(new NfsServerOptions().setRdmaSettings(settings), "/");
    }

    public static TestServer start(ConnectionLimits limits) throws IOException {
        return new TestServer(new NfsServerOptions().setConnectionLimits(limits), "/");
    }

    public static TestServer start(MeterRegistry registry) throws IOException {
        return new TestServer(new NfsServerOptions().setMeterRegistry(registry), "/");
    }

    public static TestServer start(String exportName) throws IOException {
        return new TestServer(new NfsServerOptions(), exportName);
    }

    /** Its handles stay good over {@link #restart}. */
    public static TestServer startWithState(Path directory) throws IOException {
        return new TestServer(new NfsServerOptions()
                .setServiceOptions(NfsServiceOptions.DEFAULTS.withStateDirectory(directory)), "/");
    }

    public NfsEndpoint endpoint(Transport transport) {
        return endpoint(transport, "/");
    }

    public NfsEndpoint endpoint(Transport transport, String path) {
        InetSocketAddress address = server.address(transport);
        return new NfsEndpoint(transport, NetUtil.toAddressString(address.getAddress()), address.getPort(), path);
    }

    public NfsSession open(Transport transport) throws IOException {
        return NfsSession.open(endpoint(transport), new NfsClientOptions());
    }

    /** The root of the export, on the server's own file system. */
    public Path root() {
        return memory.getPath("/");
    }

    @Override
    public void close() throws IOException {
        server.close();
        memory.close();
        for (Socket port : ports) {
            port.close();
        }
    }
}
