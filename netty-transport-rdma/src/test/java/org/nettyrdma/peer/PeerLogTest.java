package org.nettyrdma.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.slf4j.Marker;
import org.slf4j.event.Level;
import org.slf4j.helpers.LegacyAbstractLogger;

class PeerLogTest {

    private final Lines lines = new Lines();
    private final Queue<Runnable> afterWindow = new ArrayDeque<>();
    private long nowNanos;
    private final PeerLog log = new PeerLog(Level.WARN, lines, () -> nowNanos, this::executeAfterWindow);
    private boolean exhausted;

    private void executeAfterWindow(Runnable task) {
        if (exhausted) {
            throw new OutOfMemoryError("expected");
        }
        afterWindow.add(task);
    }

    private void violate(Object connection, int times) {
        for (int i = 0; i < times; i++) {
            log.log(lines, connection, "sent {} bytes", i);
        }
    }

    private void endOfWindow() {
        nowNanos += TimeUnit.SECONDS.toNanos(1);
        for (Runnable task = afterWindow.poll(); task != null; task = afterWindow.poll()) {
            task.run();
        }
    }

    @Test
    void shouldBeginWithAddressOfPeer() {
        log.log(lines, new InetSocketAddress("127.0.0.1", 20049), "wants {} of {}", "markers", 7);

        assertEquals(List.of("WARN /127.0.0.1:20049 wants markers of 7"), lines.written);
    }

    @Test
    void shouldTellMessageOfCauseWithoutItsTrace() {
        log.log(lines, "peer", "refused: {}", new IOException("segment of 0 bytes"));
        log.log(lines, "peer", "refused: {}", new StackOverflowError());

        assertEquals(List.of("WARN peer refused: segment of 0 bytes", "WARN peer refused: StackOverflowError"), lines.written);
    }

    @Test
    void shouldShowWhereAFaultOfThisSideIsOnceAMinute() {
        for (int i = 0; i < 1000; i++) {
            PeerLog.fault(lines, "faulty", "a step failed", new IllegalStateException("bug"));
        }

        List<String> warnings = lines.written.stream().filter(line -> line.startsWith("WARN")).toList();
        assertTrue(warnings.size() < 100, warnings.size() + " warnings");
        assertTrue(warnings.stream().filter(line -> line.startsWith("WARN the first such failure")).count() <= 1,
                warnings::toString);
        assertEquals(1000, lines.written.stream().filter(line -> line.endsWith("java.lang.IllegalStateException: bug")
                && !line.startsWith("WARN faulty")).count(), "each trace is at some level");
    }

    @Test
    void shouldBoundLinesOfOneConnection() {
        violate("loud", 1000);
        violate("quiet", 1);

        assertEquals(List.of("WARN loud sent 0 bytes", "WARN loud sent 1 bytes", "WARN loud sent 2 bytes",
                "WARN quiet sent 0 bytes"),
                lines.written);
    }

    @Test
    void shouldBoundLinesInAll() {
        for (int i = 0; i < 1000; i++) {
            violate("peer " + i, 1);
        }

        assertEquals(PeerLog.MAX_LINES, lines.written.size());
    }

    @Test
    void shouldCountWhatWasLeftOutThoughNothingFollows() {
        violate("peer", 1000);
        lines.written.clear();

        endOfWindow();

        assertEquals(List.of("WARN 997 more lines about peers within a second were left out"), lines.written);
        assertTrue(afterWindow.isEmpty());
    }

    @Test
    void shouldCountWhatWasLeftOutThoughItOnceCouldNotTellLater() {
        violate("peer", 3);
        exhausted = true;
        violate("peer", 1);
        exhausted = false;
        violate("peer", 5);
        lines.written.clear();

        endOfWindow();

        assertEquals(List.of("WARN 5 more lines about peers within a second were left out"), lines.written);
    }

    /** Whoever tells of a failure goes on, for instance by trying again later. */
    @Test
    void shouldLeaveOutALineForWhichThereIsNoMemory() {
        Object connection = new Object() {
            @Override
            public String toString() {
                throw new OutOfMemoryError("expected");
            }
        };
        violate(connection, 1);
        PeerLog.warn(lines, connection, "sent {} bytes", 1);
        PeerLog.fault(lines, "peer", "a step failed", new IllegalStateException() {
            @Override
            public String toString() {
                throw new OutOfMemoryError("expected");
            }
        });

        assertEquals(List.of(), lines.written);
    }

    @Test
    void shouldWriteAgainInNextSecond() {
        violate("peer", 4);
        endOfWindow();
        lines.written.clear();

        violate("peer", 5);
        endOfWindow();

        assertEquals(List.of("WARN peer sent 0 bytes", "WARN peer sent 1 bytes", "WARN peer sent 2 bytes",
                "WARN 2 more lines about peers within a second were left out"), lines.written);
    }

    @Test
    void shouldEscapeWhatCouldSteerTerminal() {
        log.log(lines, "peer", "named {}", "a\u001b[2J\r\nWARN b\u202e\ud800\u00e9");

        assertEquals(List.of("WARN peer named a\\u001b[2J\\u000d\\u000aWARN b\\u202e\\ud800\u00e9"), lines.written);
    }

    @Test
    void shouldCutLongLine() {
        log.log(lines, "peer", "named {}", "x".repeat(100_000));

        assertEquals("WARN ".length() + PeerLog.MAX_CHARACTERS, lines.written.get(0).length());
    }

    /** What was logged, each line behind its level. */
    private static final class Lines extends LegacyAbstractLogger {

        private static final long serialVersionUID = 1;

        private final transient List<String> written = new ArrayList<>();

        @Override
        protected void handleNormalizedLoggingCall(Level level, Marker marker, String pattern, Object[] arguments,
                Throwable cause) {
            written.add(level + " " + pattern + (cause == null ? "" : " " + cause));
        }

        @Override
        protected String getFullyQualifiedCallerName() {
            return null;
        }

        @Override
        public boolean isTraceEnabled() {
            return true;
        }

        @Override
        public boolean isDebugEnabled() {
            return true;
        }

        @Override
        public boolean isInfoEnabled() {
            return true;
        }

        @Override
        public boolean isWarnEnabled() {
            return true;
        }

        @Override
        public boolean isErrorEnabled() {
            return true;
        }
    }
}
