package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.codec.rpcrdma.connection.NegotiatedConnection;
import org.nettyrdma.codec.rpcrdma.connection.VersionNegotiationHandler;
import org.nettyrdma.codec.rpcrdma.header.PropertySet;
import org.nettyrdma.codec.rpcrdma.shared.ChunkCounters;
import org.nettyrdma.handler.credit.support.XidMap;
import org.nettyrdma.verbs.support.ShortHeap;

/** Where there is no heap for one more, those that are there already stay. */
class ShortHeapQueuesTest {

    @Test
    void shouldKeepTheCallsThatWaitForTheVersion() throws Exception {
        ShortHeap.run(Calls.class);
    }

    @Test
    void shouldReleaseTheFirstCallAndLetTheNextOneFindTheVersionOut() throws Exception {
        ShortHeap.run(FirstCall.class);
    }

    @Test
    void shouldKeepTheRequestsInProgressWhoseNumbersMeetInOneSlot() throws Exception {
        ShortHeap.run(Numbers.class);
    }

    /** Below the handler nothing is answered. */
    private static EmbeddedChannel channel(List<Object> sent) {
        return new EmbeddedChannel(new ChannelOutboundHandlerAdapter() {
            @Override
            public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
                ReferenceCountUtil.release(msg);
                sent.add(msg);
            }
        }, new VersionNegotiationHandler(new NegotiatedConnection(new RdmaChannel(), false, VersionPolicy.V2_ONLY,
                RpcRdmaPrivateData.NONE, 4096, PropertySet.EMPTY), new ChunkCounters()));
    }

    private static ByteBuf call() {
        return Unpooled.buffer(40, 40).writeZero(40);
    }

    static final class Calls {

        /** An array that held as many would have to grow with the next few. */
        private static final int WAITING = 836;
        private static final int MORE = 8;
        private static final int LESS_THAN_THAT_TAKES = 5000;

        public static void main(String[] arguments) {
            EmbeddedChannel channel = channel(new ArrayList<>());
            List<ByteBuf> calls = new ArrayList<>();
            List<ChannelPromise> promises = new ArrayList<>();
            for (int i = 0; i < 1 + WAITING + MORE; i++) {
                calls.add(call());
                promises.add(channel.newPromise());
            }
            for (int i = 0; i <= WAITING; i++) {
                channel.write(calls.get(i), promises.get(i));
            }
            int[] failures = new int[1];
            ShortHeap.whileFullBut(LESS_THAN_THAT_TAKES, () -> {
                for (int i = 1 + WAITING; i < calls.size(); i++) {
                    try {
                        channel.write(calls.get(i), promises.get(i));
                    } catch (OutOfMemoryError e) {
                        failures[0]++;
                    }
                }
            });
            channel.close();
            for (int i = 1; i < calls.size(); i++) { // the write of the first one is in progress
                assertTrue(promises.get(i).isDone() || i > WAITING && failures[0]-- > 0, "call " + i);
                assertEquals(0, calls.get(i).refCnt(), "call " + i);
            }
        }
    }

    static final class FirstCall {

        public static void main(String[] arguments) {
            List<Object> sent = new ArrayList<>();
            EmbeddedChannel warmUp = channel(new ArrayList<>());
            warmUp.write(call());
            warmUp.close(); // so that all classes are there
            EmbeddedChannel channel = channel(sent);
            ByteBuf first = call();
            ChannelPromise promise = channel.newPromise();
            int[] failures = new int[1];
            ShortHeap.whileFull(() -> {
                try {
                    channel.write(first, promise);
                } catch (OutOfMemoryError e) {
                    failures[0]++; // perhaps there is no heap to fail the promise either
                }
            });
            assertTrue(failures[0] == 1 || promise.cause() instanceof OutOfMemoryError);
            assertEquals(0, first.refCnt());
            channel.write(call());
            assertEquals(1, sent.size());
        }
    }

    static final class Numbers {

        private static final int SAME_SLOT = 1024;
        /** In its slot, and as many as a table of 1024 entries takes. */
        private static final int REQUESTS = 1 + 512;
        /** For one of the two arrays of the next larger table. */
        private static final int NOT_FOR_BOTH = 12_000;

        public static void main(String[] arguments) {
            XidMap<String> map = new XidMap<>();
            for (int i = 0; i < REQUESTS; i++) {
                map.put(i * SAME_SLOT, "request " + i);
            }
            int[] failures = new int[1];
            ShortHeap.whileFullBut(NOT_FOR_BOTH, () -> {
                try {
                    map.put(REQUESTS * SAME_SLOT, "one more");
                } catch (OutOfMemoryError e) {
                    failures[0]++;
                }
            });
            assertEquals(1, failures[0]);
            for (int i = 0; i < REQUESTS; i++) {
                assertEquals("request " + i, map.remove(i * SAME_SLOT));
            }
            assertTrue(map.isEmpty());
        }
    }
}
