package org.nettyrdma.verbs.support;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class ClosingTest {

    private final List<String> closed = new ArrayList<>();
    private final Closing closing = new Closing();

    @Test
    void shouldEndWithoutAFailureWhereNoStepHasFailed() {
        closing.step("a", closed::add);
        closing.all(new ArrayList<>(List.of("b", "c")), closed::add);
        closing.end();
        assertEquals(List.of("a", "b", "c"), closed);
    }

    @Test
    void shouldTakeEachStepAndThrowTheFirstFailureWithTheOthers() {
        var first = new InternalError("first");
        var second = new IllegalStateException("second");
        Set<String> members = new LinkedHashSet<>(List.of("a", "b", "c"));
        closing.step("before", closed::add);
        closing.all(members, failing("a", first));
        closing.step("d", failing("d", second));
        closing.step("after", closed::add);
        assertSame(first, assertThrows(InternalError.class, closing::end));
        assertArrayEquals(new Throwable[] {second}, first.getSuppressed());
        assertEquals(List.of("before", "a", "b", "c", "d", "after"), closed);
        assertTrue(members.isEmpty());
    }

    /** As the JVM does where there is no memory for an error of its own. */
    @Test
    void shouldBearThatStepsThrowTheSameError() {
        var error = new OutOfMemoryError();
        closing.step("a", failing("a", error));
        closing.step("b", failing("b", error));
        closing.step("c", closed::add);
        assertSame(error, assertThrows(OutOfMemoryError.class, closing::end));
        assertEquals(List.of("a", "b", "c"), closed);
    }

    @Test
    void shouldGoOnBehindACollectionThatCannotBeGoneThrough() {
        closing.all(List.of("a"), closed::add); // nothing can be taken out of it
        closing.step("b", closed::add);
        assertThrows(UnsupportedOperationException.class, closing::end);
        assertEquals(List.of("b"), closed);
    }

    /** Most have an own way to leave the collection that they are in. */
    @Test
    void shouldLetAMemberTakeItselfOut() {
        Set<String> members = new LinkedHashSet<>(List.of("a", "b"));
        closing.all(members, member -> {
            members.remove(member);
            closed.add(member);
        });
        closing.end();
        assertEquals(List.of("a", "b"), closed);
    }

    @Test
    void shouldKeepWhatIsGoingToBeClosed() {
        Set<AutoCloseable> members = new LinkedHashSet<>();
        AutoCloseable opened = () -> closed.add("a");
        assertSame(opened, Closing.keep(members, opened));
        assertEquals(Set.of(opened), members);
        assertEquals(List.of(), closed);
    }

    @Test
    void shouldCloseWhatCannotBeKept() {
        AutoCloseable opened = () -> closed.add("a");
        assertThrows(UnsupportedOperationException.class, () -> Closing.keep(Set.of(), opened));
        assertEquals(List.of("a"), closed);
    }

    private Consumer<String> failing(String which, Throwable failure) {
        return member -> {
            closed.add(member);
            if (member.equals(which)) {
                throwUnchecked(failure);
            }
        };
    }

    private static void throwUnchecked(Throwable failure) {
        if (failure instanceof Error error) {
            throw error;
        }
        throw (RuntimeException) failure;
    }
}
