package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class StreamBatchTest {

    private static final int MOST_BYTES = 60_000;

    private final StreamBatch batch = new StreamBatch(PostingTools.of(Rdma.provider("iwarp")));
    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final ChannelOutboundBuffer buffer = channel.unsafe().outboundBuffer();

    private void add(int bytes) {
        buffer.addMessage(Unpooled.wrappedBuffer(new byte[bytes]), bytes, channel.newPromise());
        buffer.addFlush();
    }

    @AfterEach
    void release() {
        channel.finishAndReleaseAll();
    }

    /** Otherwise a peer that takes little makes each small message hold the memory of a large one. */
    @Test
    void shouldTakeNoMemoryForWhatIsPosted() throws Exception {
        for (int i = 0; i < 4; i++) {
            add(10_000);
        }
        add(10);
        assertEquals(10, batch.collect(buffer, 40_000, MOST_BYTES));
        ByteBuf copy = (ByteBuf) batch.takePayload();
        int capacity = copy.capacity();
        copy.release();
        buffer.removeBytes(40_010);
        assertTrue(capacity < 1000, () -> capacity + " bytes");
    }
}
