package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.concurrent.Future;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaChannelOption;
import org.nettyrdma.channel.RdmaChannelStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.connection.OpenConnections;

@Timeout(60)
class OpenConnectionsTest {

    /** The device returns what it has when the channel is closed already; only then is known what it has kept. */
    @Test
    void shouldSumWhatIsCountedWhileAClosedChannelDrains() throws Exception {
        try (RpcRdmaPair pair = RpcRdmaPair.of(new BulkProgram(true))) {
            RdmaChannel channel = connectWithReceives(pair);
            int receives = channel.config().getOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH);
            for (RdmaChannel one : List.of(channel, pair.channel)) {
                one.close().sync();
                assertTrue(one.releaseFuture().await(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS));
                one.eventLoop().submit(() -> { }).sync(); // behind the listeners of that future
            }
            assertEquals(receives, pair.client.connections().channelCounter(Counter.FLUSHED_WORK_REQUESTS));
            for (Counter counter : Counter.values()) {
                assertEquals(channel.statistics().get(counter) + pair.channel.statistics().get(counter),
                        pair.client.connections().channelCounter(counter), counter::name);
            }
            assertEquals(0, pair.client.connections().size());
        }
    }

    /** What a closed channel has counted stays, but its credits are nobody's any more. */
    @Test
    void shouldLeaveOutWhatIsClosedAndStillDrains() throws Exception {
        try (RpcRdmaPair pair = RpcRdmaPair.of(new BulkProgram(true))) {
            RdmaChannel channel = connectWithReceives(pair);
            OpenConnections connections = pair.client.connections();
            assertEquals(2, connections.size());
            long granted = connections.credits(credits -> credits.requests().granted());
            channel.eventLoop().submit(() -> {
                channel.close();
                assertFalse(channel.releaseFuture().isDone());
                assertEquals(1, connections.size());
                assertEquals(granted / 2, connections.credits(credits -> credits.requests().granted()));
            }).sync();
        }
    }

    @Test
    void shouldNeverRunBackwardsWhileConnectionsEnd() throws Exception {
        try (RpcRdmaPair pair = RpcRdmaPair.of(new BulkProgram(true))) {
            OpenConnections connections = pair.client.connections();
            AtomicBoolean ended = new AtomicBoolean();
            CompletableFuture<Long> reader = CompletableFuture.supplyAsync(() -> {
                long last = 0;
                while (!ended.get()) {
                    long now = connections.channelCounter(Counter.FLUSHED_WORK_REQUESTS);
                    assertTrue(now >= last, () -> "a counter runs backwards, to " + now);
                    last = now;
                }
                return last;
            });
            for (int i = 0; i < 300 && !reader.isDone(); i++) {
                RdmaChannel channel = connectWithReceives(pair);
                channel.close().sync();
                channel.releaseFuture().sync();
            }
            ended.set(true);
            assertTrue(reader.get() > 0);
        }
    }

    /** Calls that wait are told of the end behind all who listen for the close. */
    @Test
    void shouldSumWaitsThatEndWithTheirConnection() throws Exception {
        BulkProgram program = new BulkProgram(true);
        try (RpcRdmaPair pair = RpcRdmaPair.of(program)) {
            pair.start(BulkProgram.HANG, Unpooled.EMPTY_BUFFER);
            program.takeHanging();
            Future<ByteBuf> waiting = pair.start(BulkProgram.NULL, Unpooled.EMPTY_BUFFER);
            OpenConnections connections = pair.client.connections();
            RpcRdmaPair.awaitValue(() -> connections.credits(credits -> credits.requests().waiting()), 1);
            assertEquals(0, connections.creditCounter(credits -> credits.requests().waits()));

            pair.channel.close().sync();
            RpcRdmaPair.failure(waiting);
            RpcRdmaPair.awaitValue(() -> connections.creditCounter(credits -> credits.requests().waits()), 1);
        }
    }

    /** Only receives of its own come back to a channel. */
    private static RdmaChannel connectWithReceives(RpcRdmaPair pair) throws InterruptedException {
        return (RdmaChannel) pair.connect(new Bootstrap().option(RdmaChannelOption.SHARED_RECEIVES, false)).sync().channel();
    }
}
