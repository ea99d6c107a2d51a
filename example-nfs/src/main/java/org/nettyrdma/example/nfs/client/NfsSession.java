package org.nettyrdma.example.nfs.client;

import java.io.Closeable;
import java.io.IOException;
import java.util.function.LongConsumer;

/**
 * An NFS server with the export mounted that a path lies in. When the connection is lost, it is made again, and with it the calls
 * that were under way, under the same XIDs; a call fails when the server is not back in its time. Its methods wait for the server
 * and must not be called on an event loop; otherwise it is thread safe.
 */
public final class NfsSession implements Closeable {

    private final ServerConnection connection;
    /** Says to the server that this client leaves. */
    private final Runnable unmount;
    private final NfsClient client;
    private final RemoteFiles files;

    private NfsSession(ServerConnection connection, Runnable unmount, NfsClient client, RemoteFiles files) {
        this.connection = connection;
        this.unmount = unmount;
        this.client = client;
        this.files = files;
    }

    /**
     * Connects and mounts. NFS is asked on the endpoint's port, or on the one that rpcbind names if the options say so; MOUNT is
     * asked on the configured port, else on the NFS connection itself, else on the TCP port that the server's rpcbind names. What
     * is mounted is the export that lies nearest above the endpoint's path.
     *
     * @param endpoint the server, and a path in one of its exports
     * @param options how to connect and to call
     * @return the session, which the caller closes
     * @throws NfsConnectException if the server cannot be reached
     * @throws MountException if it refuses to mount, or exports nothing that the path lies in
     * @throws IOException if a call fails
     */
    public static NfsSession open(NfsEndpoint endpoint, NfsClientOptions options) throws IOException {
        ServerConnection connection = connect(endpoint, options);
        Runnable unmount = () -> { };
        try {
            MountedExport export = MountedExport.mount(endpoint, connection, options);
            unmount = () -> export.unmount(endpoint, connection, options);
            NfsClient client = newClient(connection, options);
            return new NfsSession(connection, unmount, client, RemoteFiles.open(client, export.path(), export.handle()));
        } catch (IOException | RuntimeException e) {
            close(connection, unmount);
            throw e;
        }
    }

    /**
     * Connects without mounting, and calls the NULL procedure.
     *
     * @param endpoint the server
     * @param options how to connect and to call
     * @param calls how many times to call
     * @param onReply told after each reply how many nanoseconds it took, on the calling thread
     * @throws NfsConnectException if the server cannot be reached
     * @throws IOException if a call fails
     */
    public static void ping(NfsEndpoint endpoint, NfsClientOptions options, int calls, LongConsumer onReply) throws IOException {
        try (ServerConnection connection = connect(endpoint, options)) {
            NfsClient client = newClient(connection, options);
            for (int i = 0; i < calls; i++) {
                long startNanos = System.nanoTime();
                Await.result(client.nullCall());
                onReply.accept(System.nanoTime() - startNanos);
            }
        }
    }

    /**
     * Returns the files of the server.
     *
     * @return files by path
     */
    public RemoteFiles files() {
        return files;
    }

    /**
     * Returns the procedures of the server.
     *
     * @return the client that {@link #files()} uses
     */
    public NfsClient client() {
        return client;
    }

    /**
     * Whether the connection stands. It may be of a moment ago.
     *
     * @return {@code false} while calls wait for the server
     */
    public boolean isConnected() {
        return connection.isConnected();
    }

    /**
     * Has the server take this client off its list of mounts, closes the connection, and waits for both: where the server does
     * not answer, one second for the list. Calls that still wait for a reply fail. Nothing the second time.
     */
    @Override
    public void close() {
        close(connection, unmount);
    }

    private static void close(ServerConnection connection, Runnable unmount) {
        try {
            unmount.run();
        } finally {
            connection.close();
        }
    }

    private static ServerConnection connect(NfsEndpoint endpoint, NfsClientOptions options) throws IOException {
        int port = options.usesRpcbind() ? PortLookup.nfsPort(endpoint, options) : endpoint.port();
        return ServerConnection.open(endpoint.transport(), endpoint.host(), port, options);
    }

    private static NfsClient newClient(ServerConnection connection, NfsClientOptions options) {
        return new NfsClient(connection::call, connection.allocator(), options.credential(), options.statistics());
    }
}
