package org.nettyrdma.codec.oncrpc.client;

import static io.netty.util.internal.ObjectUtil.checkInRange;
import static java.util.Objects.requireNonNull;

import io.netty.bootstrap.Bootstrap;
import java.net.SocketAddress;
import java.util.List;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.nettyrdma.codec.oncrpc.ReplySpace;
import org.nettyrdma.codec.oncrpc.RpcReplyHeader;
import org.nettyrdma.codec.oncrpc.RpcRequest;

/** Configures a {@link ReconnectingRpcClient}; {@link ReconnectingRpcClient#builder} gives one. Not thread safe. */
public final class ReconnectingRpcClientBuilder {

    final Bootstrap bootstrap;
    final Supplier<? extends List<? extends SocketAddress>> addresses;
    ReconnectPolicy policy = ReconnectPolicy.DEFAULT;
    int connections = 1;
    /** {@code null} for none. */
    IntFunction<RpcRequest> ping;
    ReconnectListener listener = new ReconnectListener() { };

    ReconnectingRpcClientBuilder(Bootstrap bootstrap, Supplier<? extends List<? extends SocketAddress>> addresses) {
        this.bootstrap = bootstrap.clone();
        this.addresses = requireNonNull(addresses, "addresses");
    }

    /**
     * Sets how to connect again, and how much to keep meanwhile.
     *
     * @param newPolicy the default is {@link ReconnectPolicy#DEFAULT}
     * @return this
     */
    public ReconnectingRpcClientBuilder policy(ReconnectPolicy newPolicy) {
        policy = requireNonNull(newPolicy, "policy");
        return this;
    }

    /**
     * Sets how many connections the client has at once. Each call goes to the one with the fewest calls under way. Calls that are
     * made one after the other may then overtake each other. The connections are on several event loops of the group; calls
     * pass through the one that the state of the client belongs to.
     *
     * @param number 1 to 64, default 1
     * @return this
     * @throws IllegalArgumentException if it is out of its range
     */
    public ReconnectingRpcClientBuilder connections(int number) {
        connections = checkInRange(number, 1, 64, "connections");
        return this;
    }

    /**
     * Makes a call of procedure 0 on each new connection, before all other calls. Any reply will do; without one within the
     * connect time-out of the channel ({@link io.netty.channel.ChannelOption#CONNECT_TIMEOUT_MILLIS}) the attempt to connect has
     * failed. So a server that takes connections and answers nothing is not waited for. Over RDMA the reply settles the version
     * and tells the credits: until the first reply only one call can be under way, and if that one takes long, all others wait.
     *
     * @param program number of the program
     * @param version version of the program, an unsigned 32-bit number
     * @return this; the default is no such call, which saves one round trip
     */
    public ReconnectingRpcClientBuilder ping(int program, int version) {
        ping = timeoutMillis -> new RpcRequest(program, version, 0).setTimeoutMillis(timeoutMillis)
                .setReplySpace(new ReplySpace(RpcReplyHeader.SUCCESS_BYTES, List.of()));
        return this;
    }

    /**
     * Sets who is told how connections come and go.
     *
     * @param newListener the default does nothing
     * @return this
     */
    public ReconnectingRpcClientBuilder listener(ReconnectListener newListener) {
        listener = requireNonNull(newListener, "listener");
        return this;
    }

    /**
     * Makes the client, which begins to connect at once.
     *
     * @return the client
     * @throws IllegalStateException if the bootstrap lacks its group, its channel or its handler
     * @throws java.util.concurrent.RejectedExecutionException if the group has been shut down
     */
    public ReconnectingRpcClient connect() {
        bootstrap.validate();
        return new ReconnectingRpcClient(this);
    }
}
