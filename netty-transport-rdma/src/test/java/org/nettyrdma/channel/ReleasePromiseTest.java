package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Who waits for the release of a channel that never had an event loop, as one that was rejected. */
class ReleasePromiseTest {

    @Test
    void shouldTellOfTheReleaseOfAChannelThatWasNeverRegistered() {
        RdmaChannel messages = new RdmaChannel();
        AtomicBoolean told = new AtomicBoolean();
        messages.releaseFuture().addListener(released -> told.set(true));
        assertFalse(told.get());
        messages.unsafe().closeForcibly();
        assertTrue(told.get());
    }

    @Test
    void shouldTellOfTheReleaseOfAStreamThatWasNeverRegistered() {
        RdmaStreamChannel stream = new RdmaStreamChannel();
        AtomicBoolean told = new AtomicBoolean();
        stream.releaseFuture().addListener(released -> told.set(true));
        assertFalse(told.get());
        stream.unsafe().closeForcibly();
        assertTrue(told.get());
    }
}
