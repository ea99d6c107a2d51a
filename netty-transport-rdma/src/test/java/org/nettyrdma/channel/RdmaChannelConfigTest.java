package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelOption;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RdmaChannelConfigTest {

    private static final Map<ChannelOption<Integer>, Integer> INTEGERS = Map.of(
            RdmaChannelOption.RECEIVE_QUEUE_DEPTH, 128,
            RdmaChannelOption.RECEIVE_BUFFER_SIZE, 4096,
            RdmaChannelOption.SEND_QUEUE_DEPTH, 256,
            RdmaChannelOption.MAX_OUTBOUND_MESSAGES, Integer.MAX_VALUE,
            RdmaChannelOption.INBOUND_READ_DEPTH, 16,
            RdmaChannelOption.OUTBOUND_READ_DEPTH, 16,
            RdmaChannelOption.CLOSE_TIMEOUT_MILLIS, 2000);

    private final RdmaChannelConfig config = new RdmaChannel().config();

    @Test
    void shouldHaveTheDocumentedDefaults() {
        INTEGERS.forEach((option, value) -> assertEquals(value, config.getOption(option), option.name()));
        assertEquals(false, config.getOption(RdmaChannelOption.CHECKSUM));
        assertEquals(0, config.getOption(RdmaChannelOption.PRIVATE_DATA).length);
    }

    @Test
    void shouldKeepEveryOptionApart() {
        int value = 1000;
        for (ChannelOption<Integer> option : INTEGERS.keySet()) {
            assertTrue(config.setOption(option, value++));
        }
        assertTrue(config.setOption(RdmaChannelOption.CHECKSUM, true));
        value = 1000;
        for (ChannelOption<Integer> option : INTEGERS.keySet()) {
            assertEquals(value++, config.getOption(option), option.name());
        }
        assertEquals(true, config.getOption(RdmaChannelOption.CHECKSUM));
    }

    @Test
    void shouldListEveryOption() {
        Map<ChannelOption<?>, Object> options = config.getOptions();
        INTEGERS.forEach((option, value) -> assertEquals(value, options.get(option), option.name()));
        assertTrue(options.containsKey(RdmaChannelOption.CHECKSUM));
        assertTrue(options.containsKey(RdmaChannelOption.PRIVATE_DATA));
        assertTrue(options.containsKey(ChannelOption.CONNECT_TIMEOUT_MILLIS));
    }

    @Test
    void shouldRefuseValuesOutOfRangeUnderTheOptionsName() {
        var e = assertThrows(IllegalArgumentException.class, () -> config.setReceiveQueueDepth(0));
        assertTrue(e.getMessage().contains("receiveQueueDepth"), e.getMessage());
        assertThrows(IllegalArgumentException.class, () -> config.setReceiveBufferSize(0));
        assertThrows(IllegalArgumentException.class,
                () -> config.setReceiveBufferSize(RegisteredByteBufAllocator.MAX_POOLED_BYTES + 1));
        assertThrows(IllegalArgumentException.class, () -> config.setSendQueueDepth(0));
        assertThrows(IllegalArgumentException.class, () -> config.setSendQueueDepth(WorkRequestId.MAX_SLOT + 2));
        assertThrows(IllegalArgumentException.class, () -> config.setMaxOutboundMessages(0));
        assertThrows(IllegalArgumentException.class, () -> config.setInboundReadDepth(-1));
        assertThrows(IllegalArgumentException.class, () -> config.setOutboundReadDepth(-1));
        assertThrows(IllegalArgumentException.class, () -> config.setCloseTimeoutMillis(0));
        assertEquals(128, config.getReceiveQueueDepth());
    }

    @Test
    void shouldCopyPrivateData() {
        byte[] bytes = {1, 2, 3};
        config.setPrivateData(bytes);
        bytes[0] = 9;
        assertArrayEquals(new byte[] {1, 2, 3}, config.getPrivateData());
        assertNotSame(config.getPrivateData(), config.getPrivateData());
    }

    @Test
    void shouldUseTheUsersAllocatorOnceSet() {
        config.setAllocator(UnpooledByteBufAllocator.DEFAULT);
        config.registered(RegisteredByteBufAllocator.of(new MemoryOnlyProvider()));
        assertSame(UnpooledByteBufAllocator.DEFAULT, config.getAllocator());
    }

    @Test
    void shouldUseTheProvidersAllocatorOnceRegistered() {
        var allocator = RegisteredByteBufAllocator.of(new MemoryOnlyProvider());
        assertNotEquals(allocator, config.getAllocator());
        config.registered(allocator);
        assertSame(allocator, config.getAllocator());
    }

    @Test
    void shouldHaveServerOptions() {
        ChannelConfig server = new RdmaServerChannel().config();
        assertEquals(5000, server.getOption(RdmaChannelOption.REQUEST_TIMEOUT_MILLIS));
        Map<ChannelOption<Integer>, Integer> limits = Map.of(RdmaChannelOption.MAX_PENDING_REQUESTS, 4096,
                RdmaChannelOption.MAX_PENDING_REQUESTS_PER_ADDRESS, 2048, RdmaChannelOption.MAX_CONNECTIONS, 16384,
                RdmaChannelOption.MAX_CONNECTIONS_PER_ADDRESS, 12288);
        limits.forEach((option, value) -> {
            assertEquals(value, server.getOption(option));
            assertTrue(server.setOption(option, 3));
            assertEquals(3, server.getOptions().get(option));
            assertThrows(IllegalArgumentException.class, () -> server.setOption(option, 0));
        });
        assertEquals(true, server.getOption(ChannelOption.SO_REUSEADDR));
        assertTrue(server.setOption(ChannelOption.SO_BACKLOG, 7));
        assertTrue(server.setOption(ChannelOption.SO_RCVBUF, 70000));
        assertTrue(server.setOption(ChannelOption.SO_REUSEADDR, false));
        assertTrue(server.setOption(RdmaChannelOption.REQUEST_TIMEOUT_MILLIS, 100));
        var options = server.getOptions();
        assertEquals(7, options.get(ChannelOption.SO_BACKLOG));
        assertEquals(70000, options.get(ChannelOption.SO_RCVBUF));
        assertEquals(false, options.get(ChannelOption.SO_REUSEADDR));
        assertEquals(100, options.get(RdmaChannelOption.REQUEST_TIMEOUT_MILLIS));
        assertThrows(IllegalArgumentException.class, () -> server.setOption(RdmaChannelOption.REQUEST_TIMEOUT_MILLIS, 0));
    }
}
