package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.AbstractReferenceCounted;
import org.junit.jupiter.api.Test;
import org.nettyrdma.handler.credit.CreditGate;
import org.nettyrdma.handler.credit.CreditedMessage;
import org.nettyrdma.verbs.support.ShortHeap;

/** A message that is to wait for a receive of the peer when there is no heap. */
class ShortHeapControlsTest {

    @Test
    void shouldReleaseIt() throws Exception {
        ShortHeap.run(Program.class);
    }

    static final class Program {

        public static void main(String[] arguments) {
            EmbeddedChannel channel = new EmbeddedChannel(new CreditGate(16, 4, 8));
            for (int i = 0; i <= CreditGate.MAX_CONTROLS; i++) {
                channel.write(new Control()); // the last one waits, and all classes are there
            }
            new Control().release(); // Netty 4.2 has classes for that, too
            Control message = new Control();
            ChannelPromise promise = channel.newPromise();
            int[] failures = new int[1];
            ShortHeap.whileFull(() -> {
                try {
                    channel.write(message, promise);
                } catch (OutOfMemoryError e) {
                    failures[0]++; // nor is there heap to fail the promise
                }
            });
            assertEquals(1, failures[0]);
            assertEquals(0, message.refCnt());
        }
    }

    private static final class Control extends AbstractReferenceCounted implements CreditedMessage {

        @Override
        public Role role() {
            return Role.CONTROL;
        }

        @Override
        public int xid() {
            return 1;
        }

        @Override
        public long credits() {
            return 0;
        }

        @Override
        public CreditedMessage withCredits(int credits) {
            return this;
        }

        @Override
        public Control touch(Object hint) {
            return this;
        }

        @Override
        protected void deallocate() {
            // It has nothing.
        }
    }
}
