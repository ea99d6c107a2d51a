package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.Unpooled;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nettyrdma.channel.RdmaChannelOption;
import org.nettyrdma.channel.RdmaChannelStatistics.Counter;

@Timeout(60)
class OpenConnectionsTest {

    /** The device returns what it has when the channel is closed already; only then is known what it has kept. */
    @Test
    void shouldSumWhatIsCountedWhileAClosedChannelDrains() throws Exception {
        try (RpcRdmaPair pair = RpcRdmaPair.of(new BulkProgram(true))) {
            pair.call(BulkProgram.NULL, Unpooled.EMPTY_BUFFER).release();
            int receives = pair.channel.config().getOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH);
            pair.channel.close().sync();
            assertTrue(pair.channel.releaseFuture().await(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS));
            pair.channel.eventLoop().submit(() -> { }).sync(); // behind the listeners of that future
            assertEquals(receives, pair.client.connections().channelCounter(Counter.FLUSHED_WORK_REQUESTS));
            for (Counter counter : Counter.values()) {
                assertEquals(pair.channel.statistics().get(counter), pair.client.connections().channelCounter(counter),
                        counter::name);
            }
            assertEquals(0, pair.client.connections().size());
        }
    }
}
