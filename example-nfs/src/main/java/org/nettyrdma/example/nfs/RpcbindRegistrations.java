package org.nettyrdma.example.nfs;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.rpcbind.Netid;
import org.nettyrdma.codec.oncrpc.rpcbind.RpcbindClient;
import org.nettyrdma.codec.oncrpc.rpcbind.RpcbindEntry;
import org.nettyrdma.codec.oncrpc.rpcbind.UniversalAddress;
import org.nettyrdma.example.nfs.protocol.Mount;
import org.nettyrdma.example.nfs.protocol.Nfs;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a server has registered with the rpcbind of its machine. It connects anew for each use, since rpcbind may restart in
 * between. Not on an event loop.
 */
final class RpcbindRegistrations implements AutoCloseable {

    private static final Logger LOGGER = LoggerFactory.getLogger(RpcbindRegistrations.class);
    private static final long TIMEOUT_MILLIS = 10_000;
    private static final InetAddress ANY_IPV4 = UniversalAddress.parse("0.0.0.0.0.0").address();
    private static final InetAddress ANY_IPV6 = UniversalAddress.parse("::.0.0").address();

    private final Path socket;
    private final List<RpcbindEntry> registered = new ArrayList<>();

    /** Creates registrations, of which there are none yet. */
    RpcbindRegistrations(Path socket) {
        this.socket = socket;
    }

    /** NFS and MOUNT at all addresses; an unspecified address counts for both versions of IP. */
    static List<RpcbindEntry> entries(Map<Transport, InetSocketAddress> addresses) {
        List<RpcbindEntry> entries = new ArrayList<>();
        addresses.forEach((transport, bound) -> {
            List<InetAddress> all = bound.getAddress().isAnyLocalAddress() ? List.of(ANY_IPV4, ANY_IPV6)
                    : List.of(bound.getAddress());
            for (InetAddress address : all) {
                UniversalAddress universal = new UniversalAddress(address, bound.getPort());
                Netid netid = transport.netid(address);
                entries.add(new RpcbindEntry(Nfs.PROGRAM, Nfs.VERSION, netid, universal));
                entries.add(new RpcbindEntry(Mount.PROGRAM, Mount.VERSION, netid, universal));
            }
        });
        return entries;
    }

    /**
     * Registers all entries.
     *
     * @throws IOException if rpcbind does not answer or refuses; what was registered before that is left for {@link #close}
     */
    void register(List<RpcbindEntry> entries) throws IOException {
        withRpcbind(client -> {
            for (RpcbindEntry entry : entries) {
                if (!await(client.set(entry))) {
                    throw refused(entry, client);
                }
                registered.add(entry);
            }
        });
    }

    private IOException refused(RpcbindEntry entry, RpcbindClient client) throws IOException {
        String what = "rpcbind refuses to register program " + entry.program() + " version " + entry.version() + " for "
                + entry.netid() + " at " + entry.address() + ": ";
        return new IOException(await(client.find(entry.program(), entry.version(), entry.netid()))
                .map(other -> what + other.owner() + " has registered it at " + other.address()
                        + "; end that server, or remove what it left with 'rpcinfo -d " + entry.program() + ' ' + entry.version()
                        + '\'')
                .orElse(what + "this process may not register"));
    }

    /** Takes everything back. A failure is logged: what is left behind harms nobody but those who look it up. */
    @Override
    public void close() {
        if (registered.isEmpty()) {
            return;
        }
        try {
            withRpcbind(client -> {
                for (RpcbindEntry entry : registered) {
                    if (!await(client.unset(entry.program(), entry.version(), entry.netid()))) {
                        LOGGER.warn("rpcbind refuses to remove {}", entry);
                    }
                }
            });
        } catch (IOException e) {
            LOGGER.warn("the registrations with rpcbind remain: {}", e.getMessage());
        }
        registered.clear();
    }

    @FunctionalInterface
    private interface Conversation {
        void with(RpcbindClient client) throws IOException;
    }

    private void withRpcbind(Conversation conversation) throws IOException {
        EventLoopGroup group = new NioEventLoopGroup(1, new DefaultThreadFactory("nfs-rpcbind", true));
        try {
            ChannelFuture connected = RpcbindClient.connectLocal(group, socket).awaitUninterruptibly();
            if (!connected.isSuccess()) {
                throw new IOException("cannot connect to rpcbind at " + socket + ": " + connected.cause().getMessage(),
                        connected.cause());
            }
            conversation.with(new RpcbindClient(rpcOf(connected.channel(), socket)));
        } finally {
            group.shutdownGracefully(0, TIMEOUT_MILLIS, TimeUnit.MILLISECONDS).awaitUninterruptibly(TIMEOUT_MILLIS);
        }
    }

    /** Netty empties the pipeline of a channel that closes, which may be before this thread hears that it has connected. */
    static RpcClient rpcOf(Channel channel, Path socket) throws IOException {
        RpcClient rpc = channel.pipeline().get(RpcClient.class);
        if (rpc == null) {
            throw new IOException("cannot connect to rpcbind at " + socket + ": it has closed the connection");
        }
        return rpc;
    }

    private static <T> T await(CompletableFuture<T> answer) throws IOException {
        try {
            return answer.get(TIMEOUT_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while waiting for rpcbind");
        } catch (ExecutionException e) {
            throw new IOException("rpcbind: " + e.getCause().getMessage(), e.getCause());
        } catch (TimeoutException e) {
            throw new IOException("rpcbind does not answer", e);
        }
    }
}
