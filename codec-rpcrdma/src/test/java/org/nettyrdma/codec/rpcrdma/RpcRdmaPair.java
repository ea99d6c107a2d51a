package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.util.concurrent.Future;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaEventLoopGroup;
import org.nettyrdma.channel.RdmaServerChannel;
import org.nettyrdma.codec.oncrpc.ReplySpace;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.Xdr;

/** A server and a client that are connected with each other, on the real channel. */
public final class RpcRdmaPair implements AutoCloseable {

    public static final int TIMEOUT_SECONDS = 30;

    private static final RdmaEventLoopGroup GROUP = new RdmaEventLoopGroup(2);

    final RpcRdma server;
    final RpcRdma client;
    public final RdmaChannel channel;
    private final Queue<Channel> channels = new ConcurrentLinkedQueue<>();
    private final Channel listener;

    public RpcRdmaPair(RpcRdmaBuilder serverBuilder, RpcRdmaBuilder clientBuilder) throws Exception {
        server = serverBuilder.build();
        client = clientBuilder.build();
        listener = server.configure(new ServerBootstrap().group(GROUP).channel(RdmaServerChannel.class))
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)).sync().channel();
        channel = (RdmaChannel) connect().sync().channel();
    }

    /** What the calls of one side take of its memory. */
    public static long usedBytes(RpcRdma side) {
        return side.memory().usedBytes();
    }

    /** Makes a connection. */
    ChannelFuture connect() {
        return connect(new Bootstrap());
    }

    /** Makes a connection with the options of a bootstrap. */
    ChannelFuture connect(Bootstrap bootstrap) {
        return client.configure(bootstrap.group(GROUP).channel(RdmaChannel.class))
                .connect(listener.localAddress()).addListener(connected -> {
                    if (connected.isSuccess()) {
                        channels.add(((ChannelFuture) connected).channel());
                    }
                });
    }

    /** A pair with the bulk program and its binding on both sides. */
    static RpcRdmaPair of(BulkProgram program) throws Exception {
        return new RpcRdmaPair(ShortSends.server().program(program).binding(BulkProgram.BINDING),
                ShortSends.client().binding(BulkProgram.BINDING));
    }

    /** The same in other versions, when these have been negotiated by one call. */
    static RpcRdmaPair of(BulkProgram program, VersionPolicy versions) throws Exception {
        return new RpcRdmaPair(ShortSends.server().program(program).binding(BulkProgram.BINDING).versions(versions),
                ShortSends.client().binding(BulkProgram.BINDING).versions(versions)).negotiated();
    }

    /** Makes a first call without data, behind which both sides know each other. */
    RpcRdmaPair negotiated() throws Exception {
        result(start(new RpcRequest(BulkProgram.PROGRAM, 1, BulkProgram.NULL, Unpooled.EMPTY_BUFFER)
                .setDataItems(List.of()).setReplySpace(new ReplySpace(24, List.of())))).release();
        return this;
    }

    Future<ByteBuf> start(int procedure, ByteBuf arguments) {
        return start(new RpcRequest(BulkProgram.PROGRAM, 1, procedure, arguments));
    }

    Future<ByteBuf> start(RpcRequest request) {
        return channel.pipeline().get(RpcClient.class).call(request);
    }

    public ByteBuf call(int procedure, ByteBuf arguments) throws Exception {
        return result(start(procedure, arguments));
    }

    public static ByteBuf result(Future<ByteBuf> call) throws Exception {
        return call.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    }

    /** The failure of a call. */
    public static Throwable failure(Future<ByteBuf> call) throws Exception {
        if (!call.await(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
            throw new AssertionError("the call is still outstanding");
        }
        if (call.isSuccess()) {
            call.getNow().release();
            throw new AssertionError("the call succeeded");
        }
        return call.cause();
    }

    /** Waits until a value is the expected one. */
    public static void awaitValue(LongSupplier value, long expected) {
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
        while (value.getAsLong() != expected) {
            assertTrue(System.nanoTime() - deadlineNanos < 0, () -> value.getAsLong() + ", not " + expected);
            Thread.yield();
        }
    }

    ByteBuf words(int... words) {
        ByteBuf out = channel.alloc().buffer();
        for (int word : words) {
            out.writeInt(word);
        }
        return out;
    }

    /** Arguments of STORE whose data is in a buffer of its own, as a program without needless copies makes them. */
    ByteBuf storeArguments(ByteBuf data) {
        ByteBuf tail = channel.alloc().buffer();
        Xdr.writePadding(tail, data.readableBytes());
        tail.writeInt(BulkProgram.MARK);
        ByteBuf head = words(BulkProgram.MARK, data.readableBytes());
        return channel.alloc().compositeBuffer().addComponent(true, head).addFlattenedComponents(true, data)
                .addComponent(true, tail);
    }

    ByteBuf registered(byte[] bytes) {
        return channel.alloc().directBuffer(Math.max(1, bytes.length)).writeBytes(bytes);
    }

    public static ByteBuf opaque(byte[] bytes) {
        ByteBuf out = Unpooled.buffer();
        Xdr.writeOpaque(out, bytes);
        return out;
    }

    @Override
    public void close() {
        channels.forEach(connection -> connection.close().syncUninterruptibly());
        listener.close().syncUninterruptibly();
    }
}
