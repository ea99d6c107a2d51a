package org.nettyrdma.example.nfs.client;
import java.io.Closeable;
import java.io.IOException;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.nettyrdma.codec.oncrpc.AcceptStatus;
import org.nettyrdma.codec.oncrpc.AuthFlavor;
import org.nettyrdma.codec.oncrpc.OpaqueAuth;
import org.nettyrdma.codec.oncrpc.RpcAcceptException;
import org.nettyrdma.codec.oncrpc.RpcDeniedException;
import org.nettyrdma.example.nfs.protocol.ExportEntry;
import org.nettyrdma.example.nfs.protocol.FileHandle;
import org.nettyrdma.example.nfs.protocol.MountResult;

/**
 * An NFS server with the export mounted that a path lies in. When the connection is lost, it is made again, and with it the calls
 * that were under way, under the same XIDs; a call fails when the server is not back in its time. Its methods wait for the server
 * and must not be called on an event loop; otherwise it is thread safe.
 */
public final class NfsSession implements Closeable {

    private static final int MAX_NAMED_EXPORTS = 10;

    private final ServerConnection connection;
    private final NfsClient client;
    private final RemoteFiles files;

    private NfsSession(ServerConnection connection, NfsClient client, RemoteFiles files) {
        this.connection = connection;
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
        try {
            Mounted mounted = mount(endpoint, connection, options);
            NfsClient client = newClient(connection, options);
            return new NfsSession(connection, client, RemoteFiles.open(client, mounted.path, mounted.handle));
        } catch (IOException | RuntimeException e) {
            connection.close();
            throw e;
        }
    }

    /**
     * Connects without mounting, and calls the NULL procedure.
     *
     * @param endpoint the server
     * @param options how to connect and to call
     * @param calls how many times to call
     * @param onReply told after each reply how long it took
     * @throws NfsConnectException if the server cannot be reached
     * @throws IOException if a call fails
     */
    public static void ping(NfsEndpoint endpoint, NfsClientOptions options, int calls, PingListener onReply) throws IOException {
        try (ServerConnection connection = connect(endpoint, options)) {
            NfsClient client = newClient(connection, options);
            for (int i = 1; i <= calls; i++) {
                long startNanos = System.nanoTime();
                Await.result(client.nullCall());
                onReply.replied(i, System.nanoTime() - startNanos);
            }
        }
    }

    /** Is told about the replies to {@link #ping}. */
    @FunctionalInterface
    public interface PingListener {

        /**
         * A reply came. On the thread that called {@link #ping}.
         *
         * @param number counts from 1
         * @param nanos time from the call to the reply in nanoseconds
         */
        void replied(int number, long nanos);
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

    /** Closes the connection and waits for that. Calls that still wait for a reply fail. */
    @Override
    public void close() {
        connection.close();
    }

    private record Mounted(String path, FileHandle handle) {
    }

    private static ServerConnection connect(NfsEndpoint endpoint, NfsClientOptions options) throws IOException {
        int port = options.usesRpcbind() ? PortLookup.nfsPort(endpoint, options) : endpoint.port();
        return ServerConnection.open(endpoint.transport(), endpoint.host(), port, options);
    }

    private static NfsClient newClient(ServerConnection connection, NfsClientOptions options) {
        return new NfsClient(connection::call, connection.allocator(), options.credential(), options.statistics());
    }

    private static Mounted mount(NfsEndpoint endpoint, ServerConnection connection, NfsClientOptions options) throws IOException {
        if (options.mountPort().isPresent()) {
            return mountOnPort(endpoint, options.mountPort().getAsInt(), options);
        }
        try {
            return mount(endpoint, new MountClient(connection::call, options.credential()), options.credential());
        } catch (RpcAcceptException e) {
            if (e.status() != AcceptStatus.PROG_UNAVAIL && e.status() != AcceptStatus.PROG_MISMATCH) {
                throw e;
            }
        } catch (RpcDeniedException e) {
            // A server that has no such program may also complain about the credential first.
        }
        return mountOnPort(endpoint, findMountPort(endpoint, options), options);
    }

    private static int findMountPort(NfsEndpoint endpoint, NfsClientOptions options) throws IOException {
        try {
            return PortLookup.mountPort(endpoint.host(), options).orElseThrow(() -> new MountException(
                    "neither the NFS connection nor rpcbind of " + endpoint.host() + " knows the MOUNT program"));
        } catch (NfsConnectException e) {
            throw new NfsConnectException("the server does not answer MOUNT on the NFS connection, and its " + e.getMessage(), e);
        }
    }

    private static Mounted mountOnPort(NfsEndpoint endpoint, int port, NfsClientOptions options) throws IOException {
        try (TcpConnection connection = TcpConnection.open(endpoint.host(), port, options)) {
            return mount(endpoint, new MountClient(connection.rpc()::call, options.credential()), options.credential());
        }
    }

    private static Mounted mount(NfsEndpoint endpoint, MountClient client, OpaqueAuth credential) throws IOException {
        List<ExportEntry> exports = Await.result(client.exports());
        Optional<String> nearest = exports.stream().map(ExportEntry::directory)
                .filter(directory -> RemotePath.isAtOrBelow(endpoint.path(), RemotePath.normalize(directory)))
                .max(Comparator.comparingInt(String::length));
        if (nearest.isEmpty()) {
            String exported = exports.stream().map(ExportEntry::directory).limit(MAX_NAMED_EXPORTS)
                    .collect(Collectors.joining(", "));
            throw new MountException("the server does not export " + endpoint.path() + "; it exports "
                    + (exported.isEmpty() ? "nothing" : exported)
                    + (exports.size() > MAX_NAMED_EXPORTS ? " and " + (exports.size() - MAX_NAMED_EXPORTS) + " more" : ""));
        }
        MountResult mounted = Await.result(client.mount(nearest.get()));
        requireFlavor(nearest.get(), mounted.flavors(), credential);
        return new Mounted(RemotePath.normalize(nearest.get()), mounted.handle());
    }

    /**
     * The server would refuse each call of another flavor as it refuses a user without permission. One that names none has no
     * wish, and one that names AUTH_NONE takes any (RFC 2623, section 2.7).
     */
    private static void requireFlavor(String path, List<Integer> taken, OpaqueAuth credential) throws MountException {
        if (!taken.isEmpty() && !taken.contains(credential.flavor()) && !taken.contains(AuthFlavor.AUTH_NONE.code())) {
            throw new MountException("cannot mount " + path + ": the server takes calls by "
                    + taken.stream().map(NfsSession::flavorName).collect(Collectors.joining(", "))
                    + " only, and this client makes them by " + flavorName(credential.flavor()));
        }
    }

    /** With the pseudo flavors of Kerberos (RFC 2623, section 4.2), in the words of exports(5). */
    private static String flavorName(int flavor) {
        return switch (flavor) {
            case 0 -> "sec=none";
            case 1 -> "sec=sys";
            case 390003 -> "sec=krb5";
            case 390004 -> "sec=krb5i";
            case 390005 -> "sec=krb5p";
            default -> "flavor " + Integer.toUnsignedString(flavor);
        };
    }
}
