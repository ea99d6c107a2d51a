package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.channel.ExposedMemory;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaChannelOption;
import org.nettyrdma.channel.RdmaEventLoopGroup;
import org.nettyrdma.channel.RdmaServerChannel;
import org.nettyrdma.channel.RemoteAccess;
import org.nettyrdma.channel.RemoteSegment;

/** The other end of a connection, which sends and sees bytes and knows nothing of RPC-over-RDMA. */
public final class RawPeer extends ChannelInboundHandlerAdapter implements AutoCloseable {

    /** What a Linux client announces: 4096 bytes both ways, Send with Invalidate is welcome. */
    public static final String LINUX_CLIENT = "f6ab0e18 01 01 03 03";

    /**
     * More than it announces unless a test has it say so, so that what is too long is seen and not just the end of the
     * connection.
     */
    private static final int RECEIVE_BUFFER_BYTES = 16384;

    static final RdmaEventLoopGroup GROUP = new RdmaEventLoopGroup(2);

    private final BlockingQueue<ByteBuf> received = new LinkedBlockingQueue<>();
    private RdmaChannel channel;

    /** Connects to a server. */
    public static RawPeer connect(Channel listener, String privateData) throws Exception {
        return connect(listener, privateData, GROUP);
    }

    /** Connects to a server from an event loop that the test has for itself, and may hold up. */
    public static RawPeer connect(Channel listener, String privateData, RdmaEventLoopGroup group) throws Exception {
        RawPeer peer = new RawPeer();
        Bootstrap bootstrap = new Bootstrap().group(group).channel(RdmaChannel.class).handler(peer)
                .option(RdmaChannelOption.RECEIVE_BUFFER_SIZE, RECEIVE_BUFFER_BYTES);
        if (!privateData.isEmpty()) {
            bootstrap.option(RdmaChannelOption.PRIVATE_DATA, Bytes.hex(privateData).array());
        }
        peer.channel = (RdmaChannel) bootstrap.connect(listener.localAddress()).sync().channel();
        return peer;
    }

    /** Listens for one client; {@code accepted} gets the peer when the connection stands. */
    static Channel listen(String privateData, BlockingQueue<RawPeer> accepted) throws Exception {
        return listen(privateData, accepted, GROUP);
    }

    /** Listens on event loops of the test's own. */
    static Channel listen(String privateData, BlockingQueue<RawPeer> accepted, RdmaEventLoopGroup group) throws Exception {
        return new ServerBootstrap().group(group).channel(RdmaServerChannel.class)
                .childOption(RdmaChannelOption.RECEIVE_BUFFER_SIZE, RECEIVE_BUFFER_BYTES)
                .childOption(RdmaChannelOption.PRIVATE_DATA, Bytes.hex(privateData).array())
                .childHandler(new ChannelInitializer<RdmaChannel>() {
                    @Override
                    protected void initChannel(RdmaChannel child) {
                        RawPeer peer = new RawPeer();
                        peer.channel = child;
                        child.pipeline().addLast(peer, new ChannelInboundHandlerAdapter() {
                            @Override
                            public void channelActive(ChannelHandlerContext ctx) {
                                accepted.add(peer);
                            }
                        });
                    }
                })
                .bind(loopback()).sync().channel();
    }

    static InetSocketAddress loopback() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    }

    public RdmaChannel channel() {
        return channel;
    }

    /** Sends a message, or a work request, and waits until it is done. */
    public void send(Object message) throws Exception {
        channel.writeAndFlush(message).get(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS);
    }

    public void sendHex(String digits) throws Exception {
        send(Bytes.hex(digits));
    }

    /** The next message that arrived, as digits. */
    public String receiveHex() throws Exception {
        ByteBuf message = receive();
        try {
            return Bytes.hex(message);
        } finally {
            message.release();
        }
    }

    public ByteBuf receive() throws Exception {
        ByteBuf message = received.poll(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS);
        if (message == null) {
            throw new AssertionError("nothing received");
        }
        return message;
    }

    /** The next message that arrived, or {@code null} if the connection has ended without one. */
    public ByteBuf receiveUnlessClosed() throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(RpcRdmaPair.TIMEOUT_SECONDS);
        while (System.nanoTime() - deadline < 0) {
            boolean closed = channel.closeFuture().isDone();
            ByteBuf message = received.poll(1, TimeUnit.MILLISECONDS);
            if (message != null || closed) {
                return message;
            }
        }
        throw new AssertionError("nothing received, and the connection stands");
    }

    /** Sends calls, and in the same turn of the event loop stops this side from doing anything more until it is released. */
    void sendAndHoldUp(CountDownLatch released, String... messages) throws Exception {
        CountDownLatch sent = new CountDownLatch(1);
        channel.eventLoop().execute(() -> {
            for (String message : messages) {
                channel.write(Bytes.hex(message));
            }
            channel.flush();
            sent.countDown();
            try {
                released.await(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        assertTrue(sent.await(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS));
    }

    /** Takes no more messages. The other end has sent one more than there is room for, and what it sends next is held up. */
    void holdUp(RdmaChannel other) throws Exception {
        channel.eventLoop().submit(() -> channel.config().setAutoRead(false)).sync();
        for (int room = channel.config().getOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH); room >= 0; room--) {
            ChannelFuture sent = other.pipeline().firstContext().writeAndFlush(Unpooled.buffer().writeInt(room));
            if (room > 0 || !other.connectionInfo().provider().equals("shm")) { // there a Send is complete when it is taken
                sent.get(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS);
            }
        }
    }

    public ByteBuf registered(byte[] bytes) {
        return channel.alloc().directBuffer(Math.max(1, bytes.length)).writeBytes(bytes);
    }

    public ExposedMemory expose(ByteBuf memory, int index, int length, RemoteAccess access) throws Exception {
        return channel.eventLoop().submit(() -> channel.expose(memory, index, length, access)).get();
    }

    /** A segment as it stands in a chunk list. */
    public static String hex(RemoteSegment segment) {
        return String.format("%08x%08x%016x", segment.steeringTag(), segment.length(), segment.offset());
    }

    public void awaitClose() throws Exception {
        if (!channel.closeFuture().await(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
            throw new AssertionError("the connection still stands");
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        received.add((ByteBuf) msg);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        // The end of a connection, which the tests look at.
    }

    @Override
    public void close() {
        channel.close().syncUninterruptibly();
        for (ByteBuf left = received.poll(); left != null; left = received.poll()) {
            left.release();
        }
    }
}
