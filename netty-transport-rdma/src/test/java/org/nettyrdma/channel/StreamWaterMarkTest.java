package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelOption;
import io.netty.channel.WriteBufferWaterMark;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The water marks of a stream, towards which also counts what is posted. */
@Timeout(60)
class StreamWaterMarkTest extends StreamFixture {

    private static final int SEND_BUFFER_BYTES = 256 << 10;
    private static final int LOW = WriteBufferWaterMark.DEFAULT.low();
    private static final int HIGH = WriteBufferWaterMark.DEFAULT.high();

    /** As the flow controller of HTTP/2 does, which would have 64 KiB under way otherwise, however much the peer has room for. */
    @Test
    void shouldLetAHandlerFillTheSendBufferWhileTheChannelIsWritable() throws Exception {
        Pair pair = pair();
        RdmaStreamChannel channel = pair.client().channel;
        byte[] all = bytes(SEND_BUFFER_BYTES + 2 * HIGH, 1);
        int written = channel.eventLoop().submit(() -> {
            int at = 0;
            while (channel.isWritable() && at < all.length) {
                channel.writeAndFlush(channel.alloc().buffer(8192).writeBytes(all, at, 8192));
                at += 8192;
            }
            return at;
        }).get();
        assertTrue(written >= SEND_BUFFER_BYTES, () -> "not writable after " + written + " bytes");
        assertTrue(written <= SEND_BUFFER_BYTES + HIGH + 8192, () -> "writable after " + written + " bytes");
        assertArrayEquals(Arrays.copyOf(all, written), pair.server().awaitBytes(written));
    }

    private static void assertWaterMarks(int low, int high, ChannelConfig config) {
        assertEquals(low + ", " + high, config.getWriteBufferLowWaterMark() + ", " + config.getWriteBufferHighWaterMark());
    }

    @Test
    void shouldHaveWaterMarksAboveTheSendBuffer() {
        RdmaStreamChannelConfig config = new RdmaStreamChannelConfig(new RdmaStreamChannel(), () -> { });
        assertWaterMarks(SEND_BUFFER_BYTES + LOW, SEND_BUFFER_BYTES + HIGH, config);
        config.setOption(ChannelOption.SO_SNDBUF, 1000);
        assertWaterMarks(1000 + LOW, 1000 + HIGH, config);
        config.setSendBufferSize(Integer.MAX_VALUE);
        assertWaterMarks(Integer.MAX_VALUE - HIGH + LOW, Integer.MAX_VALUE, config);
    }

    @Test
    void shouldKeepWaterMarksThatAreSet() {
        RdmaStreamChannelConfig config = new RdmaStreamChannelConfig(new RdmaStreamChannel(), () -> { });
        config.setOption(ChannelOption.WRITE_BUFFER_WATER_MARK, new WriteBufferWaterMark(1, 2));
        config.setSendBufferSize(1000);
        assertWaterMarks(1, 2, config);
    }

    /** Netty refuses a high one below the low one, and the other way round. */
    @Test
    @SuppressWarnings("deprecation")
    void shouldTakeOneWaterMarkThatFitsTheOtherOneOfNetty() {
        RdmaStreamChannelConfig config = new RdmaStreamChannelConfig(new RdmaStreamChannel(), () -> { });
        config.setOption(ChannelOption.WRITE_BUFFER_HIGH_WATER_MARK, LOW + 1);
        config.setSendBufferSize(1000);
        assertWaterMarks(LOW, LOW + 1, config);
        config = new RdmaStreamChannelConfig(new RdmaStreamChannel(), () -> { });
        config.setOption(ChannelOption.WRITE_BUFFER_LOW_WATER_MARK, 5);
        assertWaterMarks(5, HIGH, config);
    }
}
