package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.util.internal.PlatformDependent;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

class ResourceLimitsTest {

    private static final ResourceLimits DEFAULT = ResourceLimits.DEFAULT;

    @Test
    void shouldHaveTheDocumentedDefaults() {
        assertEquals(new ResourceLimits(Math.min(512 << 20, PlatformDependent.maxDirectMemory()
                / 4), 64 << 20, 0, 60_000, 300_000, 16 << 10), DEFAULT);
    }

    @Test
    void shouldKeepWhatIsNotChanged() {
        ResourceLimits changed = DEFAULT.withMaxTotalBytes(1).withMaxConnectionBytes(100).withMaxAbandonedBytes(3)
                .withTransferTimeoutMillis(4).withServeTimeoutMillis(0).withMinTransferBytesPerSecond(5);
        assertEquals(new ResourceLimits(1, 100, 3, 4, 0, 5), changed);
        assertEquals(DEFAULT, changed.withMaxTotalBytes(DEFAULT.maxTotalBytes()).withMaxConnectionBytes(64 << 20)
                .withMaxAbandonedBytes(0).withTransferTimeoutMillis(60_000).withServeTimeoutMillis(300_000)
                .withMinTransferBytesPerSecond(16 << 10));
    }

    @Test
    void shouldShrinkTheMemoryOfCallsGivenUpWithThatOfTheConnection() {
        ResourceLimits limits = DEFAULT.withMaxAbandonedBytes(100);
        assertEquals(100, limits.withMaxConnectionBytes(200).maxAbandonedBytes());
        assertEquals(5, limits.withMaxConnectionBytes(10).maxAbandonedBytes());
        assertEquals(0, limits.withMaxConnectionBytes(1).maxAbandonedBytes());
    }

    @Test
    void shouldRefuseWhatIsOutOfRangeByItsName() {
        refused("maxTotalBytes", () -> DEFAULT.withMaxTotalBytes(0));
        refused("maxConnectionBytes", () -> DEFAULT.withMaxConnectionBytes(0));
        refused("maxConnectionBytes", () -> DEFAULT.withMaxConnectionBytes(-1));
        refused("maxAbandonedBytes", () -> DEFAULT.withMaxAbandonedBytes(-1));
        refused("maxAbandonedBytes", () -> DEFAULT.withMaxAbandonedBytes((32 << 20) + 1));
        refused("transferTimeoutMillis", () -> DEFAULT.withTransferTimeoutMillis(-1));
        refused("serveTimeoutMillis", () -> DEFAULT.withServeTimeoutMillis(-1));
        refused("minTransferBytesPerSecond", () -> DEFAULT.withMinTransferBytesPerSecond(-1));
    }

    private static void refused(String name, Executable change) {
        String message = assertThrows(IllegalArgumentException.class, change).getMessage();
        assertTrue(message.contains(name), message);
    }
}
