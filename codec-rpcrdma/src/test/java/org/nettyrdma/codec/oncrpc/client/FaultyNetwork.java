package org.nettyrdma.codec.oncrpc.client;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.ReferenceCountUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.codec.oncrpc.RecordMarkingCodec;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.oncrpc.RpcServerHandler;
import org.nettyrdma.codec.oncrpc.SingleVersionProgram;

/**
 * A network on the loopback interface, with a server on it, that does what its script says: to each attempt to connect and to
 * each call and reply the next fault. When the script has ended, nothing fails any more. It keeps what the server has seen.
 */
final class FaultyNetwork implements AutoCloseable, SingleVersionProgram {

    static final int PROGRAM = 200_000;

    /** What happens to a message or a connection. */
    enum Fault {
        NONE, NONE_EITHER, DELAY, DROP, CUT
    }

    private final Queue<Fault> connects;
    private final Queue<Fault> calls;
    private final Queue<Fault> replies;
    private final EventLoopGroup group;
    private final Channel listener;
    /** The values that have arrived on each connection, in order. */
    private final List<List<Integer>> arrived = Collections.synchronizedList(new ArrayList<>());
    private final Map<Integer, Integer> executed = Collections.synchronizedMap(new HashMap<>());

    FaultyNetwork(EventLoopGroup group, List<Fault> connects, List<Fault> calls, List<Fault> replies)
            throws InterruptedException {
        this.group = group;
        this.connects = new ConcurrentLinkedQueue<>(connects);
        this.calls = new ConcurrentLinkedQueue<>(calls);
        this.replies = new ConcurrentLinkedQueue<>(replies);
        ChannelInitializer<Channel> network = new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                Fault fault = next(FaultyNetwork.this.connects);
                channel.pipeline().addLast(new RecordMarkingCodec(1 << 20)).addLast(new Faults(fault))
                        .addLast(new RpcServerHandler(FaultyNetwork.this));
            }
        };
        listener = new ServerBootstrap().group(group).channel(NioServerSocketChannel.class).childHandler(network)
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)).sync().channel();
    }

    private static Fault next(Queue<Fault> script) {
        Fault fault = script.poll();
        return fault == null ? Fault.NONE : fault;
    }

    ReconnectingRpcClientBuilder client() {
        return ReconnectingRpcClient.builder(RestartedServer.client(group), listener.localAddress());
    }

    /** The values that have arrived on each connection, in order. */
    List<List<Integer>> arrived() {
        synchronized (arrived) {
            return List.copyOf(arrived);
        }
    }

    /** How often the call with that value has been carried out. */
    int executed(int value) {
        return executed.getOrDefault(value, 0);
    }

    @Override
    public int program() {
        return PROGRAM;
    }

    @Override
    public void call(RpcCall call) {
        executed.merge(call.arguments().getInt(call.arguments().readerIndex()), 1, Integer::sum);
        call.reply(call.arguments().retainedSlice());
    }

    @Override
    public void close() {
        listener.close().syncUninterruptibly();
    }

    /** The network on one connection, at the server's end of it. */
    private final class Faults extends ChannelDuplexHandler {

        /** Behind the header of a call without credentials. */
        private static final int ARGUMENTS_AT = 40;

        private final Fault connect;
        private final List<Integer> values = Collections.synchronizedList(new ArrayList<>());

        Faults(Fault connect) {
            this.connect = connect;
            arrived.add(values);
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            switch (connect) {
                case CUT -> ctx.close();
                case DROP -> ctx.channel().config().setAutoRead(false); // it stands, and nothing gets through
                case DELAY -> {
                    ctx.channel().config().setAutoRead(false);
                    ctx.executor().schedule(() -> ctx.channel().config().setAutoRead(true), 2, TimeUnit.MILLISECONDS);
                }
                default -> { }
            }
            ctx.fireChannelActive();
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ByteBuf call = (ByteBuf) msg;
            values.add(call.getInt(call.readerIndex() + ARGUMENTS_AT));
            switch (next(calls)) {
                case CUT -> {
                    call.release();
                    ctx.close();
                }
                case DROP -> call.release();
                case DELAY -> ctx.executor().schedule(() -> ctx.fireChannelRead(call), 1, TimeUnit.MILLISECONDS);
                default -> ctx.fireChannelRead(call);
            }
        }

        @Override
        public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
            switch (next(replies)) {
                case CUT -> {
                    ReferenceCountUtil.release(msg);
                    promise.trySuccess();
                    ctx.close();
                }
                case DROP -> {
                    ReferenceCountUtil.release(msg);
                    promise.trySuccess();
                }
                case DELAY -> ctx.executor().schedule(() -> ctx.writeAndFlush(msg, promise), 1, TimeUnit.MILLISECONDS);
                default -> ctx.write(msg, promise);
            }
        }
    }
}
