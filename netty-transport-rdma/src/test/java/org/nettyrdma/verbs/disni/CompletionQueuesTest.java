package org.nettyrdma.verbs.disni;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Completions of several connections that one poll finds, where one of them cannot be taken up. */
class CompletionQueuesTest {

    private static final int NOT_OUTSTANDING = StubConnection.DEPTH - 1;

    private final StubVerbs verbs = new StubVerbs();
    private final List<String> delivered = new ArrayList<>();
    private Device device;

    @BeforeEach
    void open() throws IOException {
        device = StubConnection.device(verbs);
    }

    private void poll(DisniContext context) throws IOException {
        context.poll((id, status, byteLength, invalidated, tag, vendorError) -> delivered.add(id + " " + status), 100);
    }

    @Test
    void shouldTakeUpAllCompletionsOfAPollThoughOneFails() throws IOException {
        Error failure = new AssertionError("the first");
        List<Long> takenUp = new ArrayList<>();
        CompletionQueues queues = new CompletionQueues(verbs, device, (completions, index) -> {
            long key = completions.getLong(index + NativeExtensions.COMPLETION_ID);
            if (key == 1) {
                throw failure;
            }
            takenUp.add(key);
        });
        for (long key = 1; key <= 3; key++) {
            verbs.complete(key, StubVerbs.SUCCESS);
        }
        assertSame(failure, assertThrows(Error.class, queues::poll));
        assertEquals(List.of(2L, 3L), takenUp);
        assertEquals(0, queues.poll());
    }

    @Test
    void shouldNotCutShortTheEndOfAConnectionBecauseOfAnother() throws IOException {
        Error failure = new AssertionError("the first");
        CompletionQueues queues = new CompletionQueues(verbs, device, (completions, index) -> {
            throw failure;
        });
        verbs.complete(1, StubVerbs.SUCCESS);
        queues.drain(queues.reserve(1));
        assertSame(failure, assertThrows(Error.class, queues::poll));
    }

    @Test
    void shouldKeepNoQueueThatIsTooSmall() throws IOException {
        CompletionQueues queues = new CompletionQueues(verbs, device, (completions, index) -> { });
        assertThrows(IOException.class, () -> queues.reserve(StubVerbs.MAX_COMPLETIONS + 1));
        assertEquals(1, verbs.completionQueues);
        queues.reserve(StubVerbs.MAX_COMPLETIONS);
        assertEquals(2, verbs.completionQueues);
    }

    @Test
    void shouldEndOnlyTheConnectionWhoseCompletionIsNotTakenUp() throws IOException {
        DisniContext context = new DisniContext(device);
        StubConnection faulty = new StubConnection(context);
        StubConnection sound = new StubConnection(context);
        faulty.send(10);
        faulty.queuePair.flush();
        sound.send(20);
        sound.queuePair.flush();
        long faultySend = verbs.postedKeys.get(0);
        verbs.complete(faultySend + NOT_OUTSTANDING, StubVerbs.SUCCESS);
        verbs.complete(faultySend, StubVerbs.SUCCESS); // what comes after a completion that was lost cannot be trusted
        verbs.complete(verbs.postedKeys.get(1), StubVerbs.SUCCESS);
        assertThrows(IllegalStateException.class, () -> poll(context));
        poll(context);
        assertEquals(List.of("20 SUCCESS", "10 WORK_REQUEST_FLUSHED"), delivered);
        assertEquals(List.of("established", "disconnected"), faulty.heard);
        assertEquals(List.of("established"), sound.heard);
        context.close();
    }
}
