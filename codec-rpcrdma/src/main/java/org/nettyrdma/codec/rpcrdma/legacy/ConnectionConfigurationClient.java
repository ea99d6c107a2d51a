package org.nettyrdma.codec.rpcrdma.legacy;

import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import io.netty.util.concurrent.PromiseNotifier;
import java.nio.channels.ClosedChannelException;
import java.util.List;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.codec.oncrpc.ReplySpace;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcReplyHeader;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.XdrException;
import org.nettyrdma.codec.rpcrdma.ConnectionTerms;
import org.nettyrdma.codec.rpcrdma.RpcRdma;
import org.nettyrdma.codec.rpcrdma.RpcRdmaPrivateData;

/**
 * Configures a connection to an old server with the Connection Configuration Protocol. Configure before the first other call
 * (draft-ietf-nfsv4-rpcrdma-02, section 6.1). A server that does not have the protocol answers PROG_UNAVAIL, and the connection
 * can be used as it is.
 *
 * <p>The request tells the server the inline threshold of this side and how many RDMA Reads this side serves. Of the answer one
 * value takes effect when the future completes: {@code maxcall_sendsize}, the size up to which calls go inline, as far as this
 * side's own inline threshold allows. Two values have no effect: {@code align}, because RDMA_MSGP is never sent;
 * {@code maxrdmaread}, because the depth of RDMA Reads is settled while connecting, and because a server without RDMA Reads sends
 * no Read chunks. The server does not tell how large its inline replies are. So calls offer Reply chunks as before.
 */
public final class ConnectionConfigurationClient {

    /** The reply is short, so the call offers no chunk for it that an old server might get wrong. */
    private static final ReplySpace REPLY_SPACE =
            new ReplySpace(RpcReplyHeader.SUCCESS_BYTES + ConnectionConfiguration.ENCODED_BYTES, List.of());

    private final RdmaChannel channel;

    /**
     * Creates a client.
     *
     * @param channel a connected channel whose pipeline has been made by {@link RpcRdma#client()} and has a {@link RpcClient}
     */
    public ConnectionConfigurationClient(RdmaChannel channel) {
        this.channel = channel;
    }

    /**
     * Configures the connection. Any thread.
     *
     * @return the terms of the connection, when the answer of the server has taken effect. Fails with an
     *         {@link org.nettyrdma.codec.oncrpc.RpcException} if the call fails, with an {@link XdrException} if the answer has
     *         another length than it should or a size below 1024, with a {@link ClosedChannelException} if the channel has
     *         been closed before; then nothing takes effect. Cancelling it has no effect on the
     *         connection
     * @throws IllegalStateException if there is no {@link RpcClient} in the pipeline, or it was not made by {@link RpcRdma}
     */
    public Future<ConnectionTerms> configure() {
        RpcClient client = channel.pipeline().get(RpcClient.class);
        if (client == null) {
            if (!channel.isOpen()) { // which has emptied the pipeline
                return channel.eventLoop().newFailedFuture(new ClosedChannelException());
            }
            throw new IllegalStateException("no RpcClient in the pipeline");
        }
        if (RpcRdma.connection(channel) == null) {
            throw new IllegalStateException("the pipeline was not made by RpcRdma");
        }
        RpcRdmaPrivateData sizes = ConnectionConfiguration.sizesOf(channel);
        ByteBuf arguments = channel.alloc().buffer();
        new ConnectionConfiguration.Request(sizes.sendBytes(), sizes.receiveBytes(), ConnectionConfiguration.readsOf(channel))
                .write(arguments);
        Promise<ConnectionTerms> configured = channel.eventLoop().newPromise();
        client.call(new RpcRequest(ConnectionConfiguration.PROGRAM, ConnectionConfiguration.VERSION,
                ConnectionConfiguration.CONFIGURE, arguments).setReplySpace(REPLY_SPACE)).addListener((Future<ByteBuf> call) -> {
                    if (call.isSuccess()) {
                        answered(call.getNow(), configured);
                    } else {
                        configured.tryFailure(call.cause());
                    }
                });
        return configured;
    }

    private void answered(ByteBuf results, Promise<ConnectionTerms> configured) {
        try {
            ConnectionConfiguration.Reply reply = ConnectionConfiguration.Reply.read(results);
            ConnectionConfiguration.apply(channel, reply.maxCallSendBytes(), true);
            // Behind that: the RpcClient may have an executor of its own.
            PromiseNotifier.cascade(channel.eventLoop().submit(() -> RpcRdma.connection(channel).terms()), configured);
        } catch (RuntimeException | Error e) { // malformed, or the event loop has ended, for instance
            configured.tryFailure(e);
        } finally {
            results.release();
        }
    }
}
