package org.nettyrdma.codec.rpcrdma.connection;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.local.LocalAddress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class VersionFallbacksTest {

    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 5);
    private final VersionFallbacks fallbacks = new VersionFallbacks(nanos::get);

    private static LocalAddress server(int number) {
        return new LocalAddress("server-" + number);
    }

    @Test
    void shouldRememberForSomeMinutes() {
        assertFalse(fallbacks.contains(server(1)));
        fallbacks.remember(server(1));
        nanos.addAndGet(TimeUnit.MINUTES.toNanos(VersionFallbacks.REMEMBERED_MINUTES) - 1);
        assertTrue(fallbacks.contains(server(1)));
        assertFalse(fallbacks.contains(server(2)));
        nanos.incrementAndGet();
        assertFalse(fallbacks.contains(server(1)));
    }

    @Test
    void shouldForgetTheOldestWhereThereAreTooMany() {
        for (int i = 0; i < VersionFallbacks.MAX_ADDRESSES; i++) {
            fallbacks.remember(server(i));
        }
        fallbacks.remember(server(0)); // is the youngest now
        fallbacks.remember(server(-1));
        assertTrue(fallbacks.contains(server(0)));
        assertFalse(fallbacks.contains(server(1)));
        assertTrue(fallbacks.contains(server(2)));
        assertTrue(fallbacks.contains(server(-1)));
    }
}
