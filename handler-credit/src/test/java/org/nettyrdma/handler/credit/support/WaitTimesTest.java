package org.nettyrdma.handler.credit.support;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WaitTimesTest {

    @TempDir
    private Path directory;
    private final WaitTimes times = new WaitTimes("credit");

    @Test
    void shouldAddUpWaitsThatHaveEnded() {
        WaitTimes.Wait first = times.begin();
        WaitTimes.Wait second = times.begin();
        assertEquals(0, times.count());
        assertEquals(0, times.nanos());
        first.end(() -> fail("nobody records"));
        long nanos = times.nanos();
        assertTrue(nanos > 0);
        second.end(null);
        assertEquals(2, times.count());
        assertTrue(times.nanos() > nanos);
    }

    @Test
    void shouldRecordWhatWasWaitedForAndForWhom() throws IOException {
        List<RecordedEvent> events = record(Duration.ofNanos(1));
        assertEquals(2, events.size());
        assertEquals("credit", events.get(0).getString("waitedFor"));
        assertEquals("192.0.2.1", events.get(0).getString("peer"));
        assertTrue(events.get(0).getDuration().toNanos() > 0);
        assertNull(events.get(1).getString("peer"));
    }

    @Test
    void shouldNotRecordWaitsBelowTheThreshold() throws IOException {
        assertEquals(List.of(), record(Duration.ofHours(1)));
    }

    private List<RecordedEvent> record(Duration threshold) throws IOException {
        try (Recording recording = new Recording()) {
            recording.enable("org.nettyrdma.Stall").withThreshold(threshold);
            recording.start();
            times.begin().end(() -> "192.0.2.1");
            times.begin().end(null);
            recording.stop();
            recording.dump(directory.resolve("stalls.jfr"));
        }
        return RecordingFile.readAllEvents(directory.resolve("stalls.jfr"));
    }
}
