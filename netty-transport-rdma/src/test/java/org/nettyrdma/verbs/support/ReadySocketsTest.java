package org.nettyrdma.verbs.support;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ReadySocketsTest {

    private static final int SOCKETS = 10;

    private final List<Pipe> pipes = new ArrayList<>();
    private final List<Source> sources = new ArrayList<>();
    /** Those that were told that they are ready, in this order. */
    private final List<Source> told = new ArrayList<>();
    private ReadySockets sockets;

    @BeforeEach
    void openSocketsThatAreReady() throws IOException {
        sockets = new ReadySockets();
        for (int i = 0; i < SOCKETS; i++) {
            Pipe pipe = Pipe.open();
            pipes.add(pipe);
            sources.add(new Source(pipe.source()));
            pipe.sink().write(ByteBuffer.wrap(new byte[1]));
        }
    }

    @AfterEach
    void close() throws IOException {
        sockets.close();
        for (Pipe pipe : pipes) {
            pipe.sink().close();
            pipe.source().close();
        }
    }

    @Test
    void shouldLetEachReadySocketProgressOnceAndOnlySomeInARound() throws IOException {
        int largestRound = 0;
        while (told.size() < SOCKETS) {
            int before = told.size();
            assertTrue(sockets.progress() > 0);
            largestRound = Math.max(largestRound, told.size() - before);
        }
        assertEquals(SOCKETS, told.stream().distinct().count());
        assertTrue(largestRound < SOCKETS, largestRound + " in a round");
        assertEquals(0, sockets.progress());
    }

    @Test
    void shouldGiveNoTurnToASocketThatWasClosedMeanwhile() throws IOException {
        sockets.progress();
        Source closed = nextToCome();
        closed.channel.close();
        runUntilNothingIsReady();
        assertEquals(SOCKETS - 1, told.size());
        assertFalse(told.contains(closed));
    }

    @Test
    void shouldGiveNoTurnToASocketThatIsNotToBeReadAnyMore() throws IOException {
        sockets.progress();
        Source paused = nextToCome();
        paused.key.interestOps(0);
        runUntilNothingIsReady();
        assertFalse(told.contains(paused));
        paused.key.interestOps(SelectionKey.OP_READ);
        runUntilNothingIsReady();
        assertTrue(told.contains(paused));
    }

    @Test
    void shouldLetGoOfASocketBeforeItTellsSo() throws IOException {
        sockets.progress();
        Source leaving = nextToCome();
        boolean[] gone = new boolean[1];
        sockets.deregister(leaving.key, () -> {
            assertFalse(leaving.channel.isRegistered());
            gone[0] = true;
        });
        runUntilNothingIsReady();
        assertTrue(gone[0]);
        assertFalse(told.contains(leaving));
    }

    /** Who gives a task wakes the loop once, and there may always be sockets that are ready. */
    @Test
    void shouldDoWhatOthersAskForWhileSocketsAreReady() throws IOException {
        sockets.progress();
        boolean[] done = new boolean[1];
        sockets.atNextProgress(() -> done[0] = true);
        assertTrue(sockets.hasWork());
        assertNotNull(nextToCome());
        sockets.progress();
        assertTrue(done[0]);
    }

    @Test
    void shouldNotSleepWhileAReadySocketHasHadNoTurn() throws IOException {
        sockets.progress();
        for (Source source : sources) {
            source.key.interestOps(0); // so that no other would wake the selector
        }
        assertTimeoutPreemptively(Duration.ofSeconds(10), () -> sockets.await(0));
    }

    @Test
    void shouldFailOnlyTheSocketForWhichThereIsNoMemory() throws IOException {
        sources.get(3).error = new OutOfMemoryError("Cannot reserve 8192 bytes of direct buffer memory");
        runUntilNothingIsReady();
        assertEquals(SOCKETS - 1, told.size());
        assertTrue(sources.get(3).cause instanceof IOException, String.valueOf(sources.get(3).cause));
    }

    @Test
    void shouldEndTheSocketWhoseProgressMeetsAnErrorBeforeItTellsOfIt() throws IOException {
        Error error = new LinkageError("a class is missing");
        sources.get(3).error = error;
        assertSame(error, assertThrows(LinkageError.class, this::runUntilNothingIsReady));
        assertSame(error, sources.get(3).cause.getCause());
        runUntilNothingIsReady();
        assertEquals(SOCKETS - 1, told.size());
    }

    @Test
    void shouldSleepAgainAfterAnInterrupt() throws IOException {
        runUntilNothingIsReady();
        Thread.currentThread().interrupt();
        sockets.await(60_000); // the interrupt ends this one
        assertFalse(Thread.currentThread().isInterrupted());
    }

    @Test
    void shouldNotSleepWhileASocketWaitsToBeLetGo() throws IOException {
        runUntilNothingIsReady();
        sockets.deregister(sources.get(0).key, () -> { });
        assertTimeoutPreemptively(Duration.ofSeconds(10), () -> sockets.await(0));
    }

    private Source nextToCome() {
        return sources.stream().filter(source -> !told.contains(source)).findFirst().orElseThrow();
    }

    private void runUntilNothingIsReady() throws IOException {
        while (sockets.progress() > 0) {
            // each round does something
        }
    }

    private final class Source implements SocketHandler {

        private final Pipe.SourceChannel channel;
        private final SelectionKey key;
        private Error error;
        private Exception cause;

        Source(Pipe.SourceChannel channel) throws IOException {
            this.channel = channel;
            key = sockets.register(channel, SelectionKey.OP_READ, this);
        }

        @Override
        public void ready(int readyOperations) throws IOException {
            assertEquals(SelectionKey.OP_READ, readyOperations);
            assertEquals(1, channel.read(ByteBuffer.allocate(1)));
            if (error != null) {
                throw error;
            }
            told.add(this);
        }

        @Override
        public void failed(Exception failure) {
            assertNotNull(error, () -> "failed: " + failure);
            cause = failure;
        }
    }
}
