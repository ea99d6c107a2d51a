package org.nettyrdma.codec.oncrpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class MemoryAdmissionTest {

    private final MemoryBudget plenty = new MemoryBudget(1000);
    private final MemoryBudget scarce = new MemoryBudget(100);
    private final EmbeddedChannel loop = new EmbeddedChannel();
    private final List<String> events = new ArrayList<>();
    private final List<MemoryAdmission> open = new ArrayList<>();

    @AfterEach
    void everythingIsGivenBack() {
        open.forEach(MemoryAdmission::close);
        loop.runPendingTasks();
        for (MemoryBudget total : List.of(plenty, scarce)) {
            assertEquals(0, total.usedBytes());
            assertEquals(0, total.waiting());
        }
        loop.finishAndReleaseAll();
    }

    @Test
    void shouldLetCallsWaitForTheMemoryOfTheirConnectionInOrder() {
        MemoryAdmission one = admission(plenty);
        MemoryAdmission other = admission(plenty);
        assertTrue(one.admit(call("a", 40)));
        assertFalse(one.admit(call("b", 30)));
        assertFalse(one.admit(call("c", 1)), "would fit, but is not the first");
        assertTrue(other.admit(call("d", 60)), "another connection has memory of its own");
        expect("a", "d");
        one.release(40);
        expect("b", "c", "late");
    }

    @Test
    void shouldAdmitACallLargerThanTheConnectionsMemoryAlone() {
        MemoryAdmission one = admission(plenty);
        assertTrue(one.admit(call("a", 10)));
        assertFalse(one.admit(call("huge", 61)));
        assertFalse(one.admit(call("b", 1)));
        one.release(10);
        expect("a", "huge", "late");
        one.release(61);
        expect("b", "late");
    }

    @Test
    void shouldKnowWhatIsNeverPossible() {
        assertTrue(admission(scarce).isPossible(100));
        assertFalse(admission(scarce).isPossible(101));
    }

    @Test
    void shouldTakeTurnsBetweenConnections() {
        MemoryAdmission one = admission(scarce);
        MemoryAdmission other = admission(scarce);
        MemoryAdmission third = admission(scarce);
        assertTrue(other.admit(call("x", 60)));
        assertTrue(one.admit(call("a", 40)));
        for (String name : List.of("c1", "c2", "c3")) {
            assertFalse(third.admit(call(name, 20)));
        }
        assertFalse(one.admit(call("b", 20)));
        expect("x", "a");
        one.release(40);
        loop.runPendingTasks();
        // b waits since before c2 and c3 became the first of their connection
        expect("c1", "late", "b", "late");
        third.release(20);
        loop.runPendingTasks();
        expect("c2", "late");
        third.release(20);
        loop.runPendingTasks();
        expect("c3", "late");
    }

    @Test
    void shouldLetOthersInWhenAConnectionEnds() {
        MemoryAdmission one = admission(scarce);
        MemoryAdmission other = admission(scarce);
        MemoryAdmission third = admission(scarce);
        assertTrue(one.admit(call("a", 60)));
        assertFalse(one.admit(call("b", 60)));
        assertTrue(other.admit(call("c", 40)));
        assertFalse(third.admit(call("d", 60)));
        expect("a", "c");
        one.close();
        loop.runPendingTasks();
        expect("b dropped", "d", "late");
        one.release(60); // what ends after the connection changes nothing
        assertEquals(100, scarce.usedBytes());
    }

    @Test
    void shouldGiveBackMemoryThatArrivesAfterTheEnd() {
        MemoryAdmission one = admission(scarce);
        MemoryAdmission other = admission(scarce);
        assertTrue(one.admit(call("a", 60)));
        assertFalse(other.admit(call("b", 50)));
        one.release(60); // b has the memory, and will know in the next turn of the loop
        other.close();
        loop.runPendingTasks();
        expect("a", "b dropped");
    }

    @Test
    void shouldForgetCallsTakenBack() {
        MemoryAdmission one = admission(scarce);
        MemoryAdmission other = admission(scarce);
        Call first = call("first", 60);
        Call second = call("second", 60);
        assertTrue(one.admit(call("a", 60)));
        assertFalse(other.admit(first));
        assertFalse(other.admit(second));
        assertFalse(other.admit(call("third", 30)));
        other.remove(first);
        other.remove(second);
        expect("a", "third", "late");
        other.remove(first);
        assertEquals(90, scarce.usedBytes());
    }

    @Test
    void shouldPassOnTheTurnOfACallTakenBackTooLate() {
        MemoryAdmission one = admission(scarce);
        MemoryAdmission other = admission(scarce);
        Call first = call("first", 60);
        assertTrue(one.admit(call("a", 60)));
        assertFalse(other.admit(first));
        assertFalse(other.admit(call("second", 50)));
        one.release(60);
        other.remove(first);
        loop.runPendingTasks();
        expect("a", "second", "late");
        assertEquals(50, scarce.usedBytes());
    }

    @Test
    void shouldAdmitAHundredThousandThatEndAtOnceWithoutRecursion() {
        MemoryAdmission one = admission(scarce);
        assertTrue(one.admit(call("a", 60)));
        for (int i = 0; i < 100_000; i++) {
            assertFalse(one.admit(new Call("", 60) {
                @Override
                public void admitted() {
                    one.release(60);
                }
            }));
        }
        one.release(60);
        assertEquals(0, one.waiting());
    }

    /** Each has an address of its own. */
    private MemoryAdmission admission(MemoryBudget total) {
        InetSocketAddress peer = new InetSocketAddress("192.0.2." + (1 + open.size()), 1000);
        MemoryAdmission admission = new MemoryAdmission(total, 60, loop.eventLoop(), () -> peer, () -> events.add("late"));
        open.add(admission);
        return admission;
    }

    private Call call(String name, long bytes) {
        return new Call(name, bytes);
    }

    private void expect(String... expected) {
        assertEquals(List.of(expected), events);
        events.clear();
    }

    private class Call implements MemoryAdmission.Candidate {

        private final String name;
        private final long bytes;

        Call(String name, long bytes) {
            this.name = name;
            this.bytes = bytes;
        }

        @Override
        public long bytes() {
            return bytes;
        }

        @Override
        public void admitted() {
            events.add(name);
        }

        @Override
        public void dropped() {
            events.add(name + " dropped");
        }
    }
}
