package org.nettyrdma.verbs.disni;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

class BatchTest {

    private static final long QUEUE_PAIR = 9;

    private final StubVerbs verbs = new StubVerbs();
    private final Batch batch = new Batch(verbs);
    /** Two connections whose receives cannot be posted, so that what they send is not posted either. */
    private final Batch.Owner first = () -> { };
    private final Batch.Owner second = () -> { };

    private void add(Batch.Owner owner, long key) {
        batch.prepare(owner);
        batch.add(key, NativeExtensions.OPCODE_SEND, 0, 0, 0);
    }

    @Test
    void shouldNotPostForOneConnectionWhatAnotherCouldNotPost() throws IOException {
        add(first, 1);
        add(second, 2);
        batch.post(QUEUE_PAIR);
        assertEquals(List.of(StubVerbs.entry(QUEUE_PAIR, 2)), verbs.posted);
    }

    @Test
    void shouldNotOverflowWhenAFullBatchCannotBePosted() throws IOException {
        for (int key = 0; key <= Batch.MAX_REQUESTS; key++) {
            add(first, key);
        }
        batch.post(QUEUE_PAIR);
        assertEquals(List.of(StubVerbs.entry(QUEUE_PAIR, Batch.MAX_REQUESTS)), verbs.posted);
    }
}
