package org.nettyrdma.verbs.disni;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import org.junit.jupiter.api.Test;

class DeviceTest {

    private static void assertContextClosed(StubVerbs verbs) {
        assertThrows(IOException.class, () -> StubConnection.device(verbs));
        assertEquals(1, verbs.contextsClosed);
    }

    @Test
    void shouldCloseTheContextOfADeviceThatDoesNotTellItsLimits() {
        assertContextClosed(new StubVerbs() {
            @Override
            DeviceLimits limits(long context) throws IOException {
                throw new IOException("no limits");
            }
        });
    }

    @Test
    void shouldCloseTheContextOfADeviceThatHasNoProtectionDomainLeft() {
        assertContextClosed(new StubVerbs() {
            @Override
            long allocateProtectionDomain(long context) throws IOException {
                throw new IOException("no more protection domains");
            }
        });
    }

    @Test
    void shouldCloseTheContextOfADeviceThatHasNoQueuePairLeft() {
        StubVerbs verbs = new StubVerbs();
        verbs.refusesQueuePairs = true;
        assertContextClosed(verbs);
    }

    @Test
    void shouldDestroyTheQueuePairsOfADeviceThatDoesNotTellTheirLimits() {
        StubVerbs verbs = new StubVerbs() {
            @Override
            int grantedInlineBytes(long queuePair, int askedFor) throws IOException {
                throw new IOException("no limits");
            }
        };
        assertContextClosed(verbs);
        assertEquals(0, verbs.queuePairs);
    }
}
