package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class LoopsAtWorkTest {

    private static final int PROCESSORS = 2;

    private final LoopsAtWork atWork = new LoopsAtWork(PROCESSORS);

    @Test
    void shouldFindAllProcessorsTakenByAsManyOtherLoops() {
        List<LoopsAtWork.Loop> loops = loops(4);
        LoopsAtWork.Loop asks = loops.get(0);
        assertFalse(asks.rests());
        loops.get(1).works();
        assertFalse(asks.rests());
        loops.get(2).works();
        assertTrue(asks.rests());
        loops.get(3).works();
        loops.get(1).rests();
        assertTrue(asks.rests());
        loops.get(2).rests();
        assertFalse(asks.rests());
    }

    @Test
    void shouldNotCountTheLoopThatAsks() {
        List<LoopsAtWork.Loop> loops = loops(3);
        loops.forEach(LoopsAtWork.Loop::works);
        assertTrue(loops.get(0).rests());
        assertFalse(loops.get(1).rests());
    }

    @Test
    void shouldCountALoopOnceHoweverOftenItWorks() {
        List<LoopsAtWork.Loop> loops = loops(3);
        for (int i = 0; i < PROCESSORS; i++) {
            loops.get(1).works();
        }
        assertFalse(loops.get(0).rests());
    }

    @Test
    void shouldFindNoProcessorTakenWhereThereIsOneForEachLoop() {
        List<LoopsAtWork.Loop> loops = loops(PROCESSORS);
        loops.forEach(LoopsAtWork.Loop::works);
        LoopsAtWork.Loop last = atWork.new Loop();
        assertFalse(last.rests(), "nothing was counted until there were more loops");
        loops.forEach(LoopsAtWork.Loop::works);
        assertTrue(last.rests());
    }

    @Test
    void shouldForgetLoopsThatHaveEnded() {
        List<LoopsAtWork.Loop> loops = loops(3);
        loops.forEach(LoopsAtWork.Loop::works);
        loops.forEach(LoopsAtWork.Loop::ends);
        loops(PROCESSORS).forEach(LoopsAtWork.Loop::works);
        LoopsAtWork.Loop last = atWork.new Loop();
        assertFalse(last.rests());
    }

    @Test
    void shouldNotMindThatALoopEndsWithoutAWait() {
        atWork.new Loop().ends();
        shouldFindAllProcessorsTakenByAsManyOtherLoops();
    }

    /** Loops that rest. */
    private List<LoopsAtWork.Loop> loops(int count) {
        List<LoopsAtWork.Loop> loops = Stream.generate(() -> atWork.new Loop()).limit(count).toList();
        loops.forEach(LoopsAtWork.Loop::rests);
        return loops;
    }
}
