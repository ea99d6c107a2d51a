package org.nettyrdma.example.nfs.client;

import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.nettyrdma.codec.oncrpc.AcceptStatus;
import org.nettyrdma.codec.oncrpc.AuthFlavor;
import org.nettyrdma.codec.oncrpc.OpaqueAuth;
import org.nettyrdma.codec.oncrpc.RpcAcceptException;
import org.nettyrdma.codec.oncrpc.RpcDeniedException;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.example.nfs.protocol.ExportEntry;
import org.nettyrdma.example.nfs.protocol.FileHandle;
import org.nettyrdma.example.nfs.protocol.MountResult;

/**
 * An export that a client may use.
 *
 * @param directory its path on the server, as the server has it
 * @param handle its root
 * @param mountPort the TCP port where MOUNT was asked; empty for the NFS connection
 */
record MountedExport(String directory, FileHandle handle, OptionalInt mountPort) {

    private static final int MAX_NAMED_EXPORTS = 10;
    /** How long a command may take to end because it leaves a list. */
    private static final int UNMOUNT_MILLIS = 1000;

    /**
     * Mounts the export that lies nearest above the endpoint's path. MOUNT is asked on the configured port, else on the NFS
     * connection itself, else on the TCP port that the server's rpcbind names.
     *
     * @throws MountException if the server refuses, or exports nothing that the path lies in
     */
    static MountedExport mount(NfsEndpoint endpoint, ServerConnection connection, NfsClientOptions options) throws IOException {
        if (options.mountPort().isPresent()) {
            return mountOnPort(endpoint, options.mountPort().getAsInt(), options);
        }
        try {
            return mountNearest(endpoint, connection::call, options.credential(), OptionalInt.empty());
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

    private static MountedExport mountOnPort(NfsEndpoint endpoint, int port, NfsClientOptions options) throws IOException {
        try (TcpConnection connection = TcpConnection.open(endpoint.host(), port, options, options.connectTimeoutMillis())) {
            return mountNearest(endpoint, connection.rpc()::call, options.credential(), OptionalInt.of(port));
        }
    }

    private static MountedExport mountNearest(NfsEndpoint endpoint, Function<RpcRequest, Future<ByteBuf>> rpc,
            OpaqueAuth credential, OptionalInt mountPort) throws IOException {
        MountClient client = new MountClient(rpc, credential);
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
        MountedExport export = new MountedExport(nearest.get(), mounted.handle(), mountPort);
        try {
            requireFlavor(nearest.get(), mounted.flavors(), credential);
        } catch (MountException e) {
            export.unmount(rpc, credential, UNMOUNT_MILLIS);
            throw e;
        }
        return export;
    }

    /** Its path on the server, normalised. */
    String path() {
        return RemotePath.normalize(directory);
    }

    /**
     * Has the server take this client off its list of who mounted what, which is for people to look at: waits for that, for a
     * second at most, and not at all for a server that is away. Not on an event loop; also on a thread that was interrupted.
     */
    void unmount(NfsEndpoint endpoint, ServerConnection connection, NfsClientOptions options) {
        if (!connection.isConnected()) {
            return;
        }
        if (mountPort.isEmpty()) {
            unmount(connection::call, options.credential(), UNMOUNT_MILLIS);
        } else {
            boolean interrupted = Thread.interrupted(); // would end the attempt to connect
            long endNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(UNMOUNT_MILLIS);
            int timeoutMillis = Math.min(options.connectTimeoutMillis(), UNMOUNT_MILLIS);
            try (TcpConnection mountd = TcpConnection.open(endpoint.host(), mountPort.getAsInt(), options, timeoutMillis)) {
                unmount(mountd.rpc()::call, options.credential(),
                        TimeUnit.NANOSECONDS.toMillis(endNanos - System.nanoTime()));
            } catch (IOException e) {
                // It stays on the list, as with any client that does not say that it leaves.
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void unmount(Function<RpcRequest, Future<ByteBuf>> rpc, OpaqueAuth credential, long timeoutMillis) {
        Await.cleanUp(new MountClient(rpc, credential).unmount(directory), timeoutMillis);
    }

    /**
     * The server would refuse each call of another flavor as it refuses a user without permission. One that names none has no
     * wish, and one that names AUTH_NONE takes any (RFC 2623, section 2.7).
     */
    private static void requireFlavor(String path, List<Integer> taken, OpaqueAuth credential) throws MountException {
        if (!taken.isEmpty() && !taken.contains(credential.flavor()) && !taken.contains(AuthFlavor.AUTH_NONE.code())) {
            throw new MountException("cannot mount " + path + ": the server takes calls by "
                    + taken.stream().map(MountedExport::flavorName).collect(Collectors.joining(", "))
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
