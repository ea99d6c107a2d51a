package org.nettyrdma.codec.oncrpc.client;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.nettyrdma.codec.oncrpc.RecordMarkingCodec;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcServerHandler;
import org.nettyrdma.codec.oncrpc.SingleVersionProgram;

/** A server over TCP that is stopped and started by its test. It has another port each time, so that nobody can take its port. */
final class RestartedServer implements AutoCloseable, SingleVersionProgram {

    static final int PROGRAM = 200_000;
    /** Answers with its arguments. */
    static final int ECHO = 1;
    /** Answers when the test says so; see {@link #held}. */
    static final int HOLD = 2;

    private static final int MAX_MESSAGE_BYTES = 1 << 20;

    /** Calls of HOLD, in the order in which they arrived; their arguments are retained. */
    final BlockingQueue<RpcCall> held = new LinkedBlockingQueue<>();
    private final EventLoopGroup group;
    private final ChannelGroup accepted = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    private volatile Channel listener;
    private volatile boolean deaf;

    RestartedServer(EventLoopGroup group) throws InterruptedException {
        this.group = group;
        start();
    }

    /** A client without an address. */
    static Bootstrap client(EventLoopGroup group) {
        return new Bootstrap().group(group).channel(NioSocketChannel.class).handler(new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.pipeline().addLast(new RecordMarkingCodec(MAX_MESSAGE_BYTES)).addLast(new RpcClient());
            }
        });
    }

    /** Where it is now; nowhere while it is stopped. */
    List<SocketAddress> addresses() {
        Channel now = listener;
        return now == null ? List.of() : List.of(now.localAddress());
    }

    ChannelGroup accepted() {
        return accepted;
    }

    void start() throws InterruptedException {
        listener = new ServerBootstrap().group(group).channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        accepted.add(channel);
                        channel.pipeline().addLast(new RecordMarkingCodec(MAX_MESSAGE_BYTES))
                                .addLast(new RpcServerHandler(RestartedServer.this));
                    }
                }).bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)).sync().channel();
    }

    /** Ends all connections, and takes no further ones. */
    void stop() {
        Channel now = listener;
        listener = null;
        if (now != null) {
            now.close().syncUninterruptibly();
        }
        accepted.close().syncUninterruptibly();
    }

    @Override
    public int program() {
        return PROGRAM;
    }

    /** Sets whether calls of other procedures are not answered at all. */
    void setDeaf(boolean newDeaf) {
        deaf = newDeaf;
    }

    @Override
    public void call(RpcCall call) {
        switch (call.procedure()) {
            case ECHO -> call.reply(call.arguments().retainedSlice());
            case HOLD -> {
                call.arguments().retain();
                held.add(call);
            }
            default -> {
                if (!deaf) {
                    call.replyProcedureUnavailable();
                }
            }
        }
    }

    /** Answers a call of HOLD with its arguments. */
    static void answer(RpcCall call) {
        call.reply(call.arguments());
    }

    @Override
    public void close() {
        stop();
        for (RpcCall call = held.poll(); call != null; call = held.poll()) {
            call.arguments().release();
        }
    }
}
