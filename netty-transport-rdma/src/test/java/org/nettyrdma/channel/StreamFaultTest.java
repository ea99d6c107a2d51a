package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nettyrdma.verbs.VerbsProvider;

/** Streams over a device that refuses something. */
@Timeout(60)
class StreamFaultTest extends StreamFixture {

    private final FaultyProvider provider = new FaultyProvider();

    @Override
    VerbsProvider provider() {
        return provider;
    }

    /** The memory of the half that was to be replaced would be lost otherwise, and the connection with it. */
    @Test
    void shouldGoOnWithTheRingItHasWhereThereIsNoTagForALargerOne() throws Exception {
        Pair pair = pair();
        provider.refuseExposures = true;
        pair.client().write(bytes(100_000, 1));
        assertArrayEquals(bytes(100_000, 1), pair.server().awaitBytes(100_000));
        await(pair.client().channel.close());
        pair.server().awaitEvent("inactive");
    }
}
