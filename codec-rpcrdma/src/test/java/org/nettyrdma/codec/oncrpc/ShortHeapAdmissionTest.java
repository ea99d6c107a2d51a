package org.nettyrdma.codec.oncrpc;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Queue;
import org.junit.jupiter.api.Test;
import org.nettyrdma.verbs.support.ShortHeap;

/** A call whose turn to wait for the memory of all connections comes when there is no heap. */
class ShortHeapAdmissionTest {

    @Test
    void shouldAdmitItWhenThereIsMemoryForIt() throws Exception {
        ShortHeap.run(Program.class);
    }

    static final class Program {

        private final MemoryBudget total = new MemoryBudget(100);
        private final Queue<Runnable> tasks = new ArrayDeque<>();
        private final MemoryAdmission one = admission("192.0.2.1");
        private final MemoryAdmission other = admission("192.0.2.2");
        private int admitted;

        public static void main(String[] arguments) {
            new Program().admitLater(Runnable::run); // so that all classes are there
            new Program().admitLater(step -> ShortHeap.whileFull(step));
        }

        private interface Circumstances {
            void run(Runnable step);
        }

        private void admitLater(Circumstances circumstances) {
            one.admit(new Call(60));
            other.admit(new Call(40));
            other.admit(new Call(60));
            other.admit(new Call(10));
            assertEquals(2, admitted);
            circumstances.run(this::giveOwnBack);
            one.release(60);
            while (!tasks.isEmpty()) {
                tasks.remove().run();
            }
            assertEquals(3, admitted);
            other.release(60);
            assertEquals(4, admitted);
            other.release(10);
            assertEquals(0, total.usedBytes());
        }

        private void giveOwnBack() {
            try {
                other.release(40); // and the next one asks for more
            } catch (OutOfMemoryError e) {
                return; // the call that has ended knows no better
            }
        }

        private MemoryAdmission admission(String host) {
            InetSocketAddress peer = new InetSocketAddress(host, 1000);
            return new MemoryAdmission(total, 60, tasks::add, () -> peer, () -> { });
        }

        private final class Call implements MemoryAdmission.Candidate {

            private final long bytes;

            private Call(long bytes) {
                this.bytes = bytes;
            }

            @Override
            public long bytes() {
                return bytes;
            }

            @Override
            public void admitted() {
                admitted++;
            }

            @Override
            public void dropped() {
                throw new AssertionError("the connection has not ended");
            }
        }
    }
}
