package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.RejectedExecutionHandlers;
import io.netty.util.concurrent.ThreadPerTaskExecutor;
import java.io.IOException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.nettyrdma.verbs.support.ShortHeap;

/** A context that fails while there is little memory: its channels end all the same, and another one takes its place. */
class ShortHeapContextTest {

    private static final int CHANNELS = 10;
    /** With the one or the other there is enough for the first steps, and not for all. */
    private static final List<Integer> SPARE_BYTES = List.of(1200, 1400, 1600);

    @Test
    void shouldReplaceItThoughThereWasNoMemoryForASecondStep() throws Exception {
        ShortHeap.run(Program.class);
    }

    static final class Program {

        private final FaultyProvider faulty = new FaultyProvider();
        private final RdmaEventLoop loop;

        Program() throws IOException {
            loop = new RdmaEventLoop(null, new ThreadPerTaskExecutor(new DefaultThreadFactory("short-heap", true)),
                    RejectedExecutionHandlers.reject(), faulty, IdleStrategy.BLOCKING);
        }

        public static void main(String[] arguments) throws Exception {
            Program program = new Program();
            program.lose(1 << 20); // so that all classes are there
            for (int spareBytes : SPARE_BYTES) {
                program.lose(spareBytes);
            }
        }

        private void lose(int spareBytes) throws Exception {
            Channel server = new ServerBootstrap().group(loop).channel(RdmaServerChannel.class)
                    .childHandler(new ChannelInitializer<>() {
                        @Override
                        protected void initChannel(Channel child) {
                            // The peer's end is enough.
                        }
                    }).bind(InetAddress.getLoopbackAddress(), 0).sync().channel();
            List<RdmaChannel> channels = new ArrayList<>();
            for (int i = 0; i < CHANNELS; i++) {
                channels.add((RdmaChannel) new Bootstrap().group(loop).channel(RdmaChannel.class)
                        .option(RdmaChannelOption.CLOSE_TIMEOUT_MILLIS, 1000).handler(new ChannelInboundHandlerAdapter())
                        .connect(server.localAddress()).sync().channel());
            }
            IOException failure = new IOException("expected");
            byte[][] spare = {new byte[spareBytes]};
            loop.submit(() -> ShortHeap.whileFull(() -> {
                spare[0] = null;
                fail(failure);
            })).sync();
            faulty.nextPollFailure = failure; // as it is still the context where there was no memory for a first step
            loop.submit(() -> { }).sync();
            for (RdmaChannel channel : channels) {
                assertTrue(channel.releaseFuture().await(30, TimeUnit.SECONDS), channels::toString);
            }
            assertTrue(server.closeFuture().await(30, TimeUnit.SECONDS));
            loop.submit(() -> faulty.nextPollFailure = null).sync(); // which none may have met
        }

        private void fail(IOException failure) {
            try {
                loop.io().pollFailed(failure);
            } catch (OutOfMemoryError e) {
                return; // the loop goes on
            }
        }
    }
}
