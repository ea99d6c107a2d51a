package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.nettyrdma.verbs.VerbsProvider;

class RdmaTest {

    private final VerbsProvider broken = new MemoryOnlyProvider("broken", new IOError("no device"));
    private final VerbsProvider first = new MemoryOnlyProvider("first", null);
    private final VerbsProvider second = new MemoryOnlyProvider("second", null);

    @Test
    void shouldChooseTheFirstAvailableProvider() {
        assertSame(first, Rdma.choose(List.of(broken, first, second), null));
    }

    @Test
    void shouldPassOverAProviderThatCannotSayWhyItIsNotAvailable() {
        var faulty = new MemoryOnlyProvider("faulty", null) {
            @Override
            public Throwable unavailabilityCause() {
                throw new UnsatisfiedLinkError("no library");
            }
        };
        assertSame(first, Rdma.choose(List.of(faulty, first), null));
        var e = assertThrows(IllegalStateException.class, () -> Rdma.choose(List.of(faulty), null));
        assertEquals("no RDMA provider is available: faulty: no library", e.getMessage());
    }

    @Test
    void shouldChooseTheProviderAskedFor() {
        assertSame(second, Rdma.choose(List.of(broken, first, second), "second"));
    }

    @Test
    void shouldNotReplaceAProviderAskedForByAnother() {
        var e = assertThrows(IllegalStateException.class, () -> Rdma.choose(List.of(broken, first), "broken"));
        assertTrue(e.getMessage().contains("no device"), e.getMessage());
    }

    @Test
    void shouldNameWhatWasFoundWhenTheNameIsUnknown() {
        var e = assertThrows(IllegalStateException.class, () -> Rdma.choose(List.of(broken, first), "third"));
        assertTrue(e.getMessage().contains("third") && e.getMessage().contains("[broken, first]"), e.getMessage());
    }

    @Test
    void shouldNameWhatCanBeAskedForWhenNoProviderHasTheName() {
        var e = assertThrows(IllegalArgumentException.class, () -> Rdma.provider("infiniband"));
        assertTrue(e.getMessage().contains("infiniband") && e.getMessage().contains("iwarp"), e.getMessage());
    }

    @Test
    void shouldSayWhyNoProviderIsAvailable() {
        var e = assertThrows(IllegalStateException.class, () -> Rdma.choose(List.of(broken), null));
        assertEquals("no RDMA provider is available: broken: no device", e.getMessage());
    }

    @Test
    void shouldSayThatThereIsNoProvider() {
        assertThrows(IllegalStateException.class, () -> Rdma.choose(List.of(), null));
    }

    private static final class IOError extends Exception {

        private static final long serialVersionUID = 1;

        IOError(String message) {
            super(message);
        }
    }
}
