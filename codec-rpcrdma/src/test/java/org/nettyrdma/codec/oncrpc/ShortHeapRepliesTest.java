package org.nettyrdma.codec.oncrpc;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.buffer.ByteBuf;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.nettyrdma.verbs.support.ShortHeap;

/** Replies that are kept, when there is no heap for one more. */
class ShortHeapRepliesTest {

    @Test
    void shouldForgetThemWhenTheirTimeIsOver() throws Exception {
        ShortHeap.run(Program.class);
    }

    static final class Program implements RpcProgram {

        private static final int NUMBER = 99;
        /** An array that held as many would have to grow with the next few. */
        private static final int REPLIES = 950;
        private static final int MORE = 8;
        private static final int LESS_THAN_THAT_TAKES = 5000;

        private final AtomicLong clockNanos = new AtomicLong();
        private final DuplicateRequestCache cache = new DuplicateRequestCache(4096, 1 << 20, 1000, clockNanos::get);
        private final EmbeddedChannel channel = new EmbeddedChannel(new RpcServerHandler(cache.guard(this)));

        public static void main(String[] arguments) {
            new Program().run();
        }

        private void run() {
            for (int i = 0; i < REPLIES; i++) {
                assertEquals(0, status(i));
            }
            ByteBuf[] calls = new ByteBuf[MORE];
            for (int i = 0; i < MORE; i++) {
                calls[i] = message(REPLIES + i);
            }
            ShortHeap.whileFullBut(LESS_THAN_THAT_TAKES, () -> {
                for (ByteBuf call : calls) {
                    try {
                        channel.writeInbound(call);
                    } catch (OutOfMemoryError e) {
                        return; // what is there has to stay
                    }
                }
            });
            channel.releaseInbound();
            channel.releaseOutbound();
            EmbeddedChannel later = new EmbeddedChannel(new RpcServerHandler(cache.guard(this)));
            clockNanos.addAndGet(TimeUnit.SECONDS.toNanos(2));
            later.writeInbound(message(1));
            assertEquals(0, status(later));
            assertEquals(1, cache.statistics().replies());
        }

        private ByteBuf message(int xid) {
            ByteBuf message = channel.alloc().buffer();
            new RpcCallHeader(xid, NUMBER, 1, 1, OpaqueAuth.NONE, OpaqueAuth.NONE).write(message);
            return message;
        }

        private int status(int xid) {
            channel.writeInbound(message(xid));
            return status(channel);
        }

        private static int status(EmbeddedChannel channel) {
            ByteBuf reply = channel.readOutbound();
            int status = reply.getInt(RpcReplyHeader.SUCCESS_BYTES - Integer.BYTES);
            reply.release();
            return status;
        }

        @Override
        public int program() {
            return NUMBER;
        }

        @Override
        public int lowestVersion() {
            return 1;
        }

        @Override
        public int highestVersion() {
            return 1;
        }

        @Override
        public Object clientOf(RpcCall call) {
            return "the only one";
        }

        @Override
        public void call(RpcCall call) {
            call.reply(call.alloc().buffer(4).writeInt(7));
        }
    }
}
