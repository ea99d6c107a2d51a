package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaChannelOption;
import org.nettyrdma.channel.RdmaChannelStatistics.Counter;

@Timeout(60)
class OpenConnectionsTest {

    /** The device returns what it has when the channel is closed already; only then is known what it has kept. */
    @Test
    void shouldSumWhatIsCountedWhileAClosedChannelDrains() throws Exception {
        try (RpcRdmaPair pair = RpcRdmaPair.of(new BulkProgram(true))) {
            // Only receives of its own come back to a channel.
            RdmaChannel channel = (RdmaChannel) pair.connect(new Bootstrap().option(RdmaChannelOption.SHARED_RECEIVES, false))
                    .sync().channel();
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
}
