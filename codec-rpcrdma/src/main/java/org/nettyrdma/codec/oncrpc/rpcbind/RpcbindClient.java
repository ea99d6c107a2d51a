package org.nettyrdma.codec.oncrpc.rpcbind;

import static io.netty.util.internal.ObjectUtil.checkInRange;
import static java.util.Objects.requireNonNull;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.Future;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.nettyrdma.codec.oncrpc.RecordMarkingCodec;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.codec.oncrpc.XdrException;

/**
 * Registers programs with rpcbind and looks them up (RFC 1833, section 2.2). Thread safe.
 *
 * <p><b>Who may register.</b> rpcbind lets only its own machine register. On its socket in the file system it lets every user
 * register, see {@link #connectLocal}, and over loopback only a process with a privileged port. A registration lasts until the
 * same user or the superuser takes it back. It outlives the connection and the process.
 *
 * <p><b>Which transports.</b> The rpcbind of Linux registers any {@link Netid}, {@code rdma} and {@code rdma6} included, whether
 * or not {@code /etc/netconfig} knows it. It answers {@link #address} for the transport of the connection that asks. So only
 * {@link #find} tells where a program answers over RDMA.
 *
 * <p><b>Results.</b> They complete on the event loop of the connection. They fail with a
 * {@link org.nettyrdma.codec.oncrpc.RpcException}, or with an {@link XdrException} if the reply is malformed; with an
 * {@link OutOfMemoryError} if there is no memory for what it says. All methods that ask rpcbind throw an
 * {@link IllegalStateException} while the {@link RpcClient} is in no pipeline yet.
 */
public final class RpcbindClient {

    /** The number of the program. */
    public static final int PROGRAM = 100000;

    /** Where rpcbind answers over TCP and UDP. */
    public static final int PORT = 111;

    /** Where rpcbind answers on its own machine. */
    public static final Path LOCAL_SOCKET = Path.of("/run/rpcbind.sock");

    private static final int OLDEST_VERSION = 3;
    private static final int NEWEST_VERSION = 4;
    private static final int SET = 1;
    private static final int UNSET = 2;
    private static final int GETADDR = 3;
    private static final int DUMP = 4;
    private static final int GETTIME = 6;
    private static final int GETVERSADDR = 9;
    /** A reply to DUMP for several thousand registrations. */
    private static final int MAX_MESSAGE_BYTES = 1 << 20;

    private final RpcClient rpc;
    private final int version;

    /**
     * Creates a client that speaks version 4.
     *
     * @param rpc the last handler of a connection to rpcbind
     */
    public RpcbindClient(RpcClient rpc) {
        this(rpc, NEWEST_VERSION);
    }

    /**
     * Creates a client.
     *
     * @param rpc     the last handler of a connection to rpcbind
     * @param version version of the protocol, 3 or 4
     * @throws IllegalArgumentException if it is another version
     */
    public RpcbindClient(RpcClient rpc, int version) {
        this.rpc = requireNonNull(rpc, "rpc");
        this.version = checkInRange(version, OLDEST_VERSION, NEWEST_VERSION, "version");
    }

    /**
     * Connects to the rpcbind of this machine through its socket in the file system, on which it lets every user register.
     *
     * @param group  a {@link io.netty.channel.nio.NioEventLoopGroup}
     * @param socket path of the socket, {@link #LOCAL_SOCKET} unless rpcbind was built otherwise
     * @return the connection, whose pipeline ends with an {@link RpcClient}; the caller closes it. It fails with an
     *         {@link java.io.IOException} if rpcbind does not run
     */
    public static ChannelFuture connectLocal(EventLoopGroup group, Path socket) {
        return new Bootstrap().group(group).channelFactory(UnixSocketChannel::new).handler(new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.pipeline().addLast(new RecordMarkingCodec(MAX_MESSAGE_BYTES), new RpcClient());
            }
        }).connect(UnixDomainSocketAddress.of(socket));
    }

    /**
     * Registers a version of a program (RPCBPROC_SET). Doing so again with the same address succeeds.
     *
     * @param entry what to register
     * @return {@code false} if rpcbind refused: the version is registered with another address for that transport, or the caller
     *         may not register
     */
    public CompletableFuture<Boolean> set(RpcbindEntry entry) {
        ByteBuf arguments = Unpooled.buffer();
        entry.write(arguments);
        return call(SET, arguments, results -> Xdr.readBoolean(results, "RPCBPROC_SET result"));
    }

    /**
     * Takes a registration back (RPCBPROC_UNSET).
     *
     * @param program        number of the program
     * @param programVersion version of the program
     * @param netid          the transport
     * @return {@code false} if rpcbind refused: somebody else has registered it, or the caller may not take anything back. The
     *         rpcbind of Linux says {@code true} also if nothing was registered
     */
    public CompletableFuture<Boolean> unset(int program, int programVersion, Netid netid) {
        return call(UNSET, arguments(program, programVersion, netid.name()),
                results -> Xdr.readBoolean(results, "RPCBPROC_UNSET result"));
    }

    /**
     * Asks where a program answers on the transport that this connection uses (RPCBPROC_GETADDR). If only another version is
     * registered, the answer is the address of that version.
     *
     * @param program        number of the program
     * @param programVersion version of the program
     * @return the address; empty if the program is not registered for this transport
     */
    public CompletableFuture<Optional<UniversalAddress>> address(int program, int programVersion) {
        return call(GETADDR, arguments(program, programVersion, ""),
                results -> readAddress(results, "RPCBPROC_GETADDR result"));
    }

    /**
     * Asks where exactly this version of a program answers on the transport that this connection uses (RPCBPROC_GETVERSADDR,
     * which version 4 has).
     *
     * @param program        number of the program
     * @param programVersion version of the program
     * @return the address; empty if the version is not registered for this transport
     * @throws IllegalStateException if this client speaks version 3
     */
    public CompletableFuture<Optional<UniversalAddress>> versionAddress(int program, int programVersion) {
        if (version < NEWEST_VERSION) {
            throw new IllegalStateException("RPCBPROC_GETVERSADDR is not in version " + version + " of rpcbind");
        }
        return call(GETVERSADDR, arguments(program, programVersion, ""),
                results -> readAddress(results, "RPCBPROC_GETVERSADDR result"));
    }

    /**
     * Lists all registrations (RPCBPROC_DUMP). How many there can be is bounded by the largest message that the connection
     * takes.
     *
     * @return the registrations in rpcbind's order; unmodifiable
     */
    public CompletableFuture<List<RpcbindEntry>> dump() {
        return call(DUMP, Unpooled.EMPTY_BUFFER, RpcbindClient::readList);
    }

    /**
     * Looks for exactly this version of a program on any transport, among all registrations.
     *
     * @param program        number of the program
     * @param programVersion version of the program
     * @param netid          the transport
     * @return the registration; empty if there is none. A server that listens on all its addresses is registered with the
     *         unspecified address; then use the port only
     */
    public CompletableFuture<Optional<RpcbindEntry>> find(int program, int programVersion, Netid netid) {
        return dump().thenApply(entries -> entries.stream().filter(entry -> entry.program() == program
                && entry.version() == programVersion && entry.netid().equals(netid)).findFirst());
    }

    /**
     * Asks what time it is on rpcbind's machine (RPCBPROC_GETTIME).
     *
     * @return the time in whole seconds
     */
    public CompletableFuture<Instant> time() {
        return call(GETTIME, Unpooled.EMPTY_BUFFER,
                results -> Instant.ofEpochSecond(Xdr.readUnsignedInt(results, "RPCBPROC_GETTIME result")));
    }

    private static ByteBuf arguments(int program, int programVersion, String netid) {
        ByteBuf arguments = Unpooled.buffer();
        RpcbindEntry.write(arguments, program, programVersion, netid, "", "");
        return arguments;
    }

    private static Optional<UniversalAddress> readAddress(ByteBuf results, String field) {
        String text = Xdr.readString(results, UniversalAddress.MAX_TEXT_LENGTH, field);
        try {
            return text.isEmpty() ? Optional.empty() : Optional.of(UniversalAddress.parse(text));
        } catch (IllegalArgumentException e) {
            throw new XdrException(field + ": " + e.getMessage());
        }
    }

    private static List<RpcbindEntry> readList(ByteBuf results) {
        List<RpcbindEntry> entries = new ArrayList<>();
        while (Xdr.readBoolean(results, "RPCBPROC_DUMP entry follows")) {
            entries.add(RpcbindEntry.read(results));
        }
        return List.copyOf(entries);
    }

    private <T> CompletableFuture<T> call(int procedure, ByteBuf arguments, Function<ByteBuf, T> decoder) {
        CompletableFuture<T> result = new CompletableFuture<>();
        rpc.call(new RpcRequest(PROGRAM, version, procedure, arguments))
                .addListener((Future<ByteBuf> reply) -> complete(result, reply, decoder));
        return result;
    }

    private static <T> void complete(CompletableFuture<T> result, Future<ByteBuf> reply, Function<ByteBuf, T> decoder) {
        if (!reply.isSuccess()) {
            result.completeExceptionally(reply.cause());
            return;
        }
        ByteBuf results = reply.getNow();
        T decoded;
        try {
            decoded = decoder.apply(results);
            if (results.isReadable()) {
                throw new XdrException("reply of rpcbind has " + results.readableBytes() + " bytes behind its results");
            }
        } catch (RuntimeException | Error e) { // malformed, or there is no memory for what it says
            result.completeExceptionally(e);
            return;
        } finally {
            results.release();
        }
        result.complete(decoded);
    }
}
