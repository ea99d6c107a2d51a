package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.codec.rpcrdma.RpcRdmaPair.awaitValue;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.util.concurrent.Future;
import java.util.Arrays;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nettyrdma.channel.ExposedMemory;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaChannelOption;
import org.nettyrdma.channel.RdmaRead;
import org.nettyrdma.channel.RdmaWrite;
import org.nettyrdma.channel.RemoteAccess;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;

/**
 * A client whose send queue is full cannot withdraw memory: what it would give to its caller or back to the pool waits until it
 * can. Here the queue has room for one request, and the server holds it up, as it takes no more messages.
 */
@Timeout(120)
class FullSendQueueTest {

    private static final int LENGTH = 5000;

    private final RpcRdma client = ShortSends.client().binding(BulkProgram.BINDING).build();
    private Channel listener;
    private RdmaChannel channel;
    private RawPeer server;
    private Future<ByteBuf> call;
    private String xid;
    private RemoteSegment segment;
    private ByteBuf source;
    private ChannelFuture read;

    @BeforeEach
    void fill() throws Exception {
        BlockingQueue<RawPeer> accepted = new LinkedBlockingQueue<>();
        listener = RawPeer.listen(RawPeer.LINUX_CLIENT, accepted);
        channel = (RdmaChannel) client.configure(new Bootstrap().group(RawPeer.GROUP).channel(RdmaChannel.class))
                .option(RdmaChannelOption.SEND_QUEUE_DEPTH, 1).connect(listener.localAddress()).sync().channel();
        server = accepted.poll(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS);
        call = channel.pipeline().get(RpcClient.class).call(new RpcRequest(BulkProgram.PROGRAM, 1, BulkProgram.LOAD,
                Unpooled.buffer().writeInt(LENGTH).writeInt(0)));
        ByteBuf sent = server.receive();
        xid = ByteBufUtil.hexDump(sent, 0, 4);
        segment = RawServer.segmentAt(sent, 28);
        sent.release();

        source = server.registered(new byte[100]);
        ExposedMemory exposed = server.expose(source, 0, 100, RemoteAccess.READ);
        server.holdUp(channel);
        read = write(new RdmaRead(exposed.segment(), channel.alloc().directBuffer(100)));
        awaitEventLoop();
        assertFalse(read.isDone());
    }

    /** Past all handlers. */
    private ChannelFuture write(Object message) {
        return channel.pipeline().firstContext().writeAndFlush(message);
    }

    private void awaitEventLoop() throws Exception {
        channel.eventLoop().submit(() -> { }).get(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS);
    }

    @AfterEach
    void close() {
        channel.close().syncUninterruptibly();
        server.close();
        listener.close().syncUninterruptibly();
        source.release();
        awaitValue(() -> client.memory().usedBytes(), 0);
    }

    private void sendReply() throws Exception {
        server.sendHex(xid + "00000001 00000020 00000000 00000000 00000001 00000001" + RawPeer.hex(segment.withLength(LENGTH))
                + "00000000 00000000" + xid + RawServer.SUCCESS + "00000000" + String.format("%08x", LENGTH));
    }

    private void place(int seed) throws Exception {
        server.send(new RdmaWrite(Unpooled.wrappedBuffer(Bytes.pattern(LENGTH, seed)), segment));
    }

    /** The server is refused from now on, whatever was possible before. */
    private void requireRefused() throws Exception {
        server.channel().writeAndFlush(new RdmaWrite(Unpooled.wrappedBuffer(new byte[LENGTH]), segment));
        server.awaitClose();
    }

    /** Lets the Read come to its end, and with it the withdrawal that waits for its place. */
    private void drain() throws Exception {
        server.channel().config().setAutoRead(true);
        assertTrue(read.await(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS) && read.isSuccess(), () -> "" + read.cause());
    }

    @Test
    void shouldDeliverTheReplyOnlyWhenItsMemoryIsWithdrawn() throws Exception {
        place(1);
        sendReply();
        awaitValue(() -> client.statistics().get(Counter.LOCAL_INVALIDATIONS), 1);
        place(2); // nobody has seen the first
        awaitEventLoop();
        assertFalse(call.isDone(), "the server can still write to it");

        drain();
        ByteBuf results = RpcRdmaPair.result(call);
        requireRefused();
        byte[] all = ByteBufUtil.getBytes(results);
        assertArrayEquals(Bytes.pattern(LENGTH, 2), Arrays.copyOfRange(all, all.length - LENGTH, all.length));
        results.release();
    }

    @Test
    void shouldReleaseTheMemoryOfACancelledCallOnlyWhenItIsWithdrawn() throws Exception {
        assertTrue(call.cancel(false));
        awaitEventLoop();
        assertEquals(1, client.statistics().get(Counter.ABANDONED_CALLS_WITHDRAWN));
        long used = client.memory().usedBytes();
        assertTrue(used >= LENGTH, () -> used + " bytes");
        ByteBuf other = channel.alloc().directBuffer(LENGTH).writeBytes(Bytes.pattern(LENGTH, 5));
        place(1);
        sendReply(); // is dropped, and does not withdraw again
        awaitValue(() -> client.statistics().get(Counter.UNKNOWN_REPLIES_DROPPED), 1);
        assertEquals(used, client.memory().usedBytes());

        drain();
        awaitValue(() -> client.memory().usedBytes(), 0);
        requireRefused();
        assertArrayEquals(Bytes.pattern(LENGTH, 5), ByteBufUtil.getBytes(other));
        other.release();
        assertEquals(1, client.statistics().get(Counter.LOCAL_INVALIDATIONS));
    }

    @Test
    void shouldReleaseTheMemoryOfACancelledCallOnceWhenTheConnectionEndsFirst() throws Exception {
        assertTrue(call.cancel(false));
        awaitEventLoop();
        assertTrue(client.memory().usedBytes() >= LENGTH);
        channel.close().sync();
        awaitValue(() -> client.memory().usedBytes(), 0);
    }
}
