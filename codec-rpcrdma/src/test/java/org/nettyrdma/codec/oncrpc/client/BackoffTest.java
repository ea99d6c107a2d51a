package org.nettyrdma.codec.oncrpc.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class BackoffTest {

    private static final ReconnectPolicy POLICY = ReconnectPolicy.DEFAULT.withDelayMillis(10, 1000);

    private static List<Long> delays(Backoff backoff, int addresses, int count) {
        return IntStream.range(0, count).mapToObj(i -> backoff.nextMillis(addresses)).toList();
    }

    @Test
    void shouldDoubleUpToTheLongest() {
        Backoff backoff = new Backoff(POLICY.withJitter(0));
        assertEquals(List.of(10L, 20L, 40L, 80L, 160L, 320L, 640L, 1000L, 1000L), delays(backoff, 1, 9));
        assertEquals(1000, delays(backoff, 1, 1000).get(999));
        backoff.reset();
        assertEquals(List.of(10L, 10L, 10L, 20L), delays(backoff, 3, 4), "all addresses are tried before it grows");
    }

    @Test
    void shouldTakeARandomPartOff() {
        assertEquals(5, new Backoff(POLICY, () -> 1).nextMillis(1));
        assertEquals(10, new Backoff(POLICY, () -> 0).nextMillis(1));
        assertEquals(1, new Backoff(POLICY.withJitter(1), () -> 1).nextMillis(1), "never 0");
        for (int i = 0; i < 1000; i++) {
            long delay = new Backoff(POLICY).nextMillis(1);
            assertTrue(delay >= 5 && delay <= 10, () -> "delay " + delay);
        }
    }

    @Test
    void shouldBearTheLongestDelays() {
        Backoff backoff = new Backoff(ReconnectPolicy.DEFAULT.withDelayMillis(1L << 40, Long.MAX_VALUE).withJitter(0));
        assertEquals(Long.MAX_VALUE, delays(backoff, 1, 200).get(199));
    }

    @Test
    void shouldNameTheValueThatIsOutOfItsRange() {
        ReconnectPolicy policy = ReconnectPolicy.DEFAULT;
        assertRefused("minDelayMillis", () -> policy.withDelayMillis(0, 1));
        assertRefused("maxDelayMillis", () -> policy.withDelayMillis(2, 1));
        assertRefused("jitter", () -> policy.withJitter(1.1));
        assertRefused("jitter", () -> policy.withJitter(Double.NaN));
        assertRefused("maxWaitingCalls", () -> policy.withMaxWaiting(-1, 0));
        assertRefused("maxWaitingBytes", () -> policy.withMaxWaiting(0, -1));
        assertRefused("maxCallsPerConnection", () -> policy.withMaxCallsPerConnection(1025));
        assertRefused("maxLostCalls", () -> policy.withMaxLostCalls(-1));
        assertRefused("callTimeoutMillis", () -> policy.withCallTimeoutMillis(0));
    }

    private static void assertRefused(String name, Runnable change) {
        assertTrue(assertThrows(IllegalArgumentException.class, change::run).getMessage().contains(name));
    }
}
