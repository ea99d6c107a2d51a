package org.nettyrdma.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.internal.PlatformDependent;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaChannelOption;
import org.nettyrdma.channel.RdmaChannelStatistics.Counter;
import org.nettyrdma.channel.RdmaException;
import org.nettyrdma.channel.ReceiveBuffersReplaced;

/** Another size of receives on a connection that stands. */
public abstract class ReceiveBuffersContract extends TransportFixture {

    private static final int DEPTH = 8;
    /** A message that has been passed on may still wait for its receive to be posted again, and so may another burst of them. */
    private static final int BURST = DEPTH / 2;

    private final BlockingQueue<ReceiveBuffersReplaced> events = new LinkedBlockingQueue<>();

    private final class Events extends ChannelInboundHandlerAdapter {

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof ReceiveBuffersReplaced replaced) {
                events.add(replaced);
            }
            ctx.fireUserEventTriggered(event);
        }
    }

    private Connection connect(int serverBytes, ChannelHandler... serverHandlers) throws Exception {
        return connect(serverBootstrap().childHandler(recording(serverHandlers))
                .childOption(RdmaChannelOption.SHARED_RECEIVES, false).childOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, DEPTH)
                .childOption(RdmaChannelOption.RECEIVE_BUFFER_SIZE, serverBytes), bootstrap());
    }

    private static void send(Endpoint from, Endpoint to, int length) throws Exception {
        Endpoint.await(from.channel().writeAndFlush(from.channel().alloc().buffer(length).writeZero(length)));
        ByteBuf message = to.awaitMessage();
        assertEquals(length, message.readableBytes());
        message.release();
    }

    /** Returns when it has taken effect. */
    private static void resize(Endpoint endpoint, int bytes) throws Exception {
        assertTrue(endpoint.channel().config().setOption(RdmaChannelOption.RECEIVE_BUFFER_SIZE, bytes));
        endpoint.call(() -> null);
    }

    private static int receivable(Endpoint endpoint) throws Exception {
        return endpoint.call(() -> endpoint.channel().receivableBytes());
    }

    private void awaitReplaced(int bytes) throws InterruptedException {
        assertEquals(new ReceiveBuffersReplaced(bytes), events.poll(Endpoint.TIMEOUT_SECONDS, TimeUnit.SECONDS));
    }

    @Test
    void shouldNotLetMoreMessagesWaitBecauseReceivesBecomeShorter() throws Exception {
        Connection connection = connect(16_384);
        RdmaChannel server = connection.server().channel();
        int share = connection.server().call(server::fairMessages);
        resize(connection.server(), 1024);
        assertEquals(share, (int) connection.server().call(server::fairMessages), "those that are sent may be as long as before");
        resize(connection.server(), 65_536);
        assertTrue(connection.server().call(server::fairMessages) <= Math.max(16, share / 4));
    }

    @Test
    void shouldTellThatLargerReceivesAreInPlaceWhenTheSmallerOnesAreUsedUp() throws Exception {
        Connection connection = connect(1024, new Events());
        resize(connection.server(), 8192);
        for (int i = 0; i < DEPTH - 1; i++) {
            send(connection.client(), connection.server(), 1024);
            assertEquals(1024, receivable(connection.server()));
        }
        assertNull(events.peek());

        send(connection.client(), connection.server(), 1024);
        awaitReplaced(8192);
        assertEquals(8192, receivable(connection.server()));
        for (int i = 0; i < 2 * DEPTH; i++) {
            send(connection.client(), connection.server(), 8192);
        }
        assertTrue(events.isEmpty());
    }

    @Test
    void shouldRefuseConnectionWhoseReceivesWouldTakeMoreThanHalfOfTheMemory() throws Exception {
        int bytes = 16 << 20;
        int most = (int) (PlatformDependent.maxDirectMemory() / 2 / bytes);
        Channel listener = listen(serverBootstrap());
        Throwable refusal = bootstrap().handler(newEndpoint()).option(RdmaChannelOption.RECEIVE_BUFFER_SIZE, bytes)
                .option(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, most + 1).connect(addressOf(listener)).await().cause();
        assertInstanceOf(RdmaException.class, refusal);
        assertTrue(refusal.getMessage().contains("half of org.nettyrdma.maxRegisteredBytes"), refusal.getMessage());
    }

    @Test
    void shouldTellSmallerReceivesAtOnce() throws Exception {
        Connection connection = connect(8192, new Events());
        resize(connection.server(), 1024);
        awaitReplaced(1024);
        assertEquals(1024, receivable(connection.server()));
        for (int i = 0; i < DEPTH; i++) {
            send(connection.client(), connection.server(), 8192); // what was posted before has kept its size
        }
        connection.client().channel().writeAndFlush(connection.client().channel().alloc().buffer().writeZero(1025));
        connection.server().awaitInactive();
    }

    @Test
    void shouldTellOnlyTheLastOfSeveralSizes() throws Exception {
        Connection connection = connect(1024, new Events());
        resize(connection.server(), 2048);
        resize(connection.server(), 4096);
        for (int i = 0; i < DEPTH; i++) {
            send(connection.client(), connection.server(), 1024);
        }
        awaitReplaced(4096);
        assertTrue(events.isEmpty());
    }

    @Test
    void shouldCountOnlyTheReceivesThatAreTooSmall() throws Exception {
        Connection connection = connect(1024, new Events());
        resize(connection.server(), 4096);
        for (int i = 0; i < DEPTH / 2; i++) {
            send(connection.client(), connection.server(), 1024);
        }
        resize(connection.server(), 2048); // half of the receives have 1024 bytes, the other half 4096
        for (int i = 0; i < DEPTH / 2; i++) {
            assertEquals(1024, receivable(connection.server()));
            send(connection.client(), connection.server(), 1024);
        }
        awaitReplaced(2048);
        assertEquals(2048, receivable(connection.server()));
    }

    @Test
    void shouldSayNothingWhereTheSizeStaysTheSame() throws Exception {
        Connection connection = connect(4096, new Events());
        resize(connection.server(), 4096);
        for (int i = 0; i < DEPTH; i++) {
            send(connection.client(), connection.server(), 4096);
        }
        assertTrue(events.isEmpty());
    }

    @Test
    void shouldReplaceReceivesThatAreHeldBack() throws Exception {
        Connection connection = connect(1024, new Events());
        Endpoint server = connection.server();
        server.channel().config().setAutoRead(false);
        server.call(() -> null);
        resize(server, 2048);
        for (int i = 0; i < DEPTH; i++) {
            connection.client().send("message " + i);
        }
        awaitReplaced(2048); // nothing that is posted is too small, for nothing is posted
        server.channel().config().setAutoRead(true);
        for (int i = 0; i < DEPTH; i++) {
            assertEquals("message " + i, server.awaitText());
        }
        server.call(() -> null); // receives are posted behind the last message of a turn, and some devices do not wait for them
        send(connection.client(), server, 2048);
    }

    @Test
    void shouldEndWhileReceivesAreBeingReplaced() throws Exception {
        Connection connection = connect(1024, new Events());
        resize(connection.server(), 2048);
        send(connection.client(), connection.server(), 1024);
        Endpoint.await(connection.client().channel().close());
        connection.server().awaitInactive();
        resize(connection.server(), 4096);
        assertTrue(events.isEmpty());
        assertEquals(0, connection.server().count(Counter.BUFFERS_LEAKED_ON_PURPOSE));
    }

    @Test
    void shouldLoseNothingWhileTheSizeGoesUpAndDownUnderLoad() throws Exception {
        int count = 10_000;
        AtomicInteger limit = new AtomicInteger(1024); // what the client may send, told only by what the server does
        int[] sizes = {1024, 16_384, 4096, 65_536, 2048};
        Resizer resizer = new Resizer(limit, sizes);
        Connection connection = connect(1024, resizer);
        Endpoint client = connection.client();
        int large = 0;
        for (int i = 0; i < count; i++) {
            int length = Math.max(4, limit.get());
            large += length > 1024 ? 1 : 0;
            client.channel().writeAndFlush(client.channel().alloc().buffer(length).writeInt(i).writeZero(length - 4));
            if (i % BURST == BURST - 1) {
                for (int k = i - BURST + 1; k <= i; k++) {
                    ByteBuf message = connection.server().awaitMessage();
                    assertEquals(k, message.readInt());
                    message.release();
                }
            }
        }
        assertTrue(large > 0 && large < count, large + " of " + count);
        assertTrue(resizer.changes > 200, resizer.changes + " changes");
        assertFalse(connection.server().hasCause());
    }

    /** Sets the next size when the last one is in place; a lower one only when the client has no larger message under way. */
    private static final class Resizer extends ChannelInboundHandlerAdapter {

        private final AtomicInteger limit;
        private final int[] sizes;
        private volatile int changes;
        private int received;

        Resizer(AtomicInteger limit, int[] sizes) {
            this.limit = limit;
            this.sizes = sizes;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            int now = ctx.channel().config().getOption(RdmaChannelOption.RECEIVE_BUFFER_SIZE);
            // The client waits for the last burst, and takes up the limit only then.
            if (received++ % BURST == 0 && ((RdmaChannel) ctx.channel()).receivableBytes() == now) {
                int next = sizes[(changes + 1) % sizes.length];
                if (next < now && limit.get() != next) {
                    limit.set(next);
                } else {
                    changes++;
                    ctx.channel().config().setOption(RdmaChannelOption.RECEIVE_BUFFER_SIZE, next);
                }
            }
            ctx.fireChannelRead(message);
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof ReceiveBuffersReplaced replaced) {
                limit.set(replaced.bytes());
            }
        }
    }
}
