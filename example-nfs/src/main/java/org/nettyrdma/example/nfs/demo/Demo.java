package org.nettyrdma.example.nfs.demo;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.util.NetUtil;
import java.io.Closeable;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.FileSystem;
import java.nio.file.Path;
import org.nettyrdma.example.nfs.NfsServer;
import org.nettyrdma.example.nfs.NfsServerOptions;
import org.nettyrdma.example.nfs.RdmaSettings;
import org.nettyrdma.example.nfs.Transport;
import org.nettyrdma.example.nfs.client.CopyOptions;
import org.nettyrdma.example.nfs.client.NfsClientOptions;
import org.nettyrdma.example.nfs.client.NfsClientStatistics;
import org.nettyrdma.example.nfs.client.NfsEndpoint;
import org.nettyrdma.example.nfs.client.NfsSession;
import org.nettyrdma.example.nfs.client.TreeCopy;
import org.nettyrdma.example.nfs.server.Export;
import org.nettyrdma.example.nfs.server.MemoryFileSystem;
import org.nettyrdma.example.nfs.server.Squash;

/**
 * A server with a file system in memory and a client of it, in one process and connected over loopback. All that they count
 * goes to one registry. Used by one thread.
 */
public final class Demo implements Closeable {

    private static final String NAME = "demo";

    private final FileSystem memory;
    private final NfsServer server;
    private final NfsSession session;
    private final MeterRegistry meters;

    private Demo(FileSystem memory, NfsServer server, NfsSession session, MeterRegistry meters) {
        this.memory = memory;
        this.server = server;
        this.session = session;
        this.meters = meters;
    }

    /**
     * Starts the server and connects the client.
     *
     * @param transport what carries the calls
     * @param settings what both sides of an RDMA connection agree on; not used over TCP
     * @param maxBytes most bytes of files that the server takes
     * @return the demonstration, which the caller closes
     * @throws IOException if the server cannot listen or the client not connect
     */
    public static Demo start(Transport transport, RdmaSettings settings, long maxBytes) throws IOException {
        MeterRegistry meters = new SimpleMeterRegistry();
        FileSystem memory = MemoryFileSystem.create(maxBytes);
        NfsServer server = null;
        try {
            InetAddress loopback = InetAddress.getLoopbackAddress();
            server = NfsServer.start(Export.of(memory.getPath("/")).withSquash(Squash.NONE),
                    new NfsServerOptions().setBindAddress(loopback).setPort(transport, 0).setMeterRegistry(meters)
                            .setRdmaSettings(settings));
            InetSocketAddress address = server.address(transport);
            NfsEndpoint endpoint = new NfsEndpoint(transport, NetUtil.toAddressString(address.getAddress()), address.getPort(),
                    "/");
            NfsClientStatistics statistics = new NfsClientStatistics();
            statistics.bindTo(meters);
            NfsSession session = NfsSession.open(endpoint, new NfsClientOptions().setStatistics(statistics)
                    .setMeterRegistry(meters)
                    .setRdmaSettings(settings));
            return new Demo(memory, server, session, meters);
        } catch (IOException | RuntimeException e) {
            if (server != null) {
                server.close();
            }
            memory.close();
            throw e;
        }
    }

    /**
     * Copies a directory to the server.
     *
     * @param source the directory
     * @param options how much to do at once
     * @throws IOException why it failed
     */
    public void put(Path source, CopyOptions options) throws IOException {
        TreeCopy.put(session.files(), source, session.files().root(), NAME, options);
    }

    /**
     * Copies back what {@link #put} copied.
     *
     * @param copy where to, a path that does not exist
     * @param options how much to do at once
     * @throws IOException why it failed
     */
    public void get(Path copy, CopyOptions options) throws IOException {
        TreeCopy.get(session.files(), session.files().find("/" + NAME), copy, options);
    }

    /**
     * Returns the copy on the server, not through NFS but on its own file system.
     *
     * @return a directory of the file system in memory
     */
    public Path servedTree() {
        return memory.getPath("/", NAME);
    }

    /**
     * Returns all that server and client count.
     *
     * @return the meters; those of connections stand still once this is closed
     */
    public MeterRegistry meters() {
        return meters;
    }

    @Override
    public void close() throws IOException {
        session.close();
        server.close();
        memory.close();
    }
}
