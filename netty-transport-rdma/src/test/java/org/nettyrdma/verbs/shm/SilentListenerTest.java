package org.nettyrdma.verbs.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.io.IOException;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nettyrdma.verbs.VerbsContext;
import org.nettyrdma.verbs.support.LoopCore;
import org.nettyrdma.verbs.support.SteeringTagGenerator;

/** A listener that the system has connected a client with, and that answers nothing. */
class SilentListenerTest {

    private static final long LIMIT_NANOS = 120_000_000_000L;

    @TempDir
    private Path temporary;
    private long nowNanos;

    @Test
    void shouldGiveUpAfterTwoMinutes() throws IOException {
        ShmProvider provider = new ShmProvider(new ShmSettings(temporary.resolve("shm"), Set.of()));
        try (ShmSide side = new ShmSide(provider); // no poll of its context: it listens, and takes nothing up
             VerbsContext client = provider.openContext(new LoopCore(() -> nowNanos, new SteeringTagGenerator()), false)) {
            SocketAddress listener = side.listen();
            side.open(client.createQueuePair(ShmSide.ATTRIBUTES, side), 0);
            side.queuePair.connect(listener, null, ByteBuffer.allocate(0));
            nowNanos += LIMIT_NANOS - 1;
            client.poll(side, 64);
            assertFalse(side.ended);
            assertEquals("no answer came from the listener on this host: the server accepts no connections",
                    side.queuePair.awaited());
            nowNanos++;
            client.poll(side, 64);
            assertInstanceOf(SocketTimeoutException.class, side.cause);
            assertEquals("no answer from " + listener + " within 120000 ms", side.cause.getMessage());
            assertNull(side.queuePair.awaited());
        }
    }
}
