package org.nettyrdma.example.nfs.client;

import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.nettyrdma.codec.oncrpc.RpcConnectionException;
import org.nettyrdma.codec.oncrpc.RpcException;
import org.nettyrdma.codec.oncrpc.RpcTimeoutException;
import org.nettyrdma.codec.oncrpc.XdrException;
import org.nettyrdma.codec.oncrpc.rpcbind.RpcbindClient;
import org.nettyrdma.codec.oncrpc.rpcbind.RpcbindEntry;
import org.nettyrdma.codec.oncrpc.rpcbind.UniversalAddress;
import org.nettyrdma.example.nfs.Transport;
import org.nettyrdma.example.nfs.protocol.Mount;
import org.nettyrdma.example.nfs.protocol.Nfs;

/** Asks the rpcbind of a server's machine, over TCP, for the ports of its programs. Waits; not on an event loop. */
final class PortLookup {

    private PortLookup() {
    }

    /**
     * Returns the port that NFS is registered with for the endpoint's transport.
     *
     * @throws NfsConnectException if rpcbind does not answer, answers with an error, or does not know NFS on that transport
     */
    static int nfsPort(NfsEndpoint endpoint, NfsClientOptions options) throws IOException {
        return port(endpoint.host(), endpoint.transport(), Nfs.PROGRAM, Nfs.VERSION, options)
                .orElseThrow(() -> new NfsConnectException("rpcbind of " + endpoint.host() + " does not know NFS version "
                        + Nfs.VERSION + " over " + endpoint.transport().scheme(), null));
    }

    /**
     * Returns the TCP port of MOUNT, if rpcbind knows one.
     *
     * @throws NfsConnectException if rpcbind does not answer, or with an error
     */
    static Optional<Integer> mountPort(String host, NfsClientOptions options) throws IOException {
        return port(host, Transport.TCP, Mount.PROGRAM, Mount.VERSION, options);
    }

    private static Optional<Integer> port(String host, Transport transport, int program, int version, NfsClientOptions options)
            throws IOException {
        try (TcpConnection connection = TcpConnection.open(host, options.rpcbindPort(), options,
                options.connectTimeoutMillis())) {
            RpcbindClient rpcbind = new RpcbindClient(connection.rpc());
            CompletableFuture<Optional<UniversalAddress>> address = switch (transport) {
                case TCP -> rpcbind.versionAddress(program, version);
                // rpcbind would name the address for the transport of this connection.
                case RDMA -> rpcbind.find(program, version, transport.netid(connection.address()))
                        .thenApply(entry -> entry.map(RpcbindEntry::universalAddress));
            };
            return Await.result(address).map(UniversalAddress::port).filter(port -> port > 0);
        } catch (NfsConnectException | RpcConnectionException | RpcTimeoutException e) {
            throw new NfsConnectException("rpcbind does not answer: " + e.getMessage(), e);
        } catch (RpcException e) {
            throw new NfsConnectException("rpcbind answers with an error: " + e.getMessage(), e);
        } catch (IOException e) {
            if (e.getCause() instanceof XdrException || e.getCause() instanceof IllegalArgumentException) {
                throw new IOException("the reply of rpcbind of " + host + " is malformed: " + e.getCause().getMessage(), e);
            }
            throw e;
        }
    }
}
