package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.util.concurrent.Future;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.codec.oncrpc.ReplySpace;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.rpcrdma.connection.InlinePath;
import org.nettyrdma.codec.rpcrdma.format.RpcRdmaCodec;
import org.nettyrdma.handler.credit.CreditGate;

/** Which messages take the short path; {@link InlinePathPropertyTest} shows that it does what the pipeline does. */
@Timeout(60)
class InlinePathTest {

    /** Keeps the short path shut, as any handler does that might want to see messages. */
    static void shut(ChannelPipeline pipeline) {
        pipeline.addAfter(pipeline.context(RpcRdmaCodec.class).name(), "between", new ChannelDuplexHandler());
    }

    /** Counts what passes a place in the pipeline, and what of it has come by the short path. */
    private static final class Watch extends ChannelDuplexHandler {

        final AtomicInteger reads = new AtomicInteger();
        final AtomicInteger shortReads = new AtomicInteger();
        final AtomicInteger writes = new AtomicInteger();
        final AtomicInteger shortWrites = new AtomicInteger();

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            count(reads, shortReads, Set.of("receive"));
            ctx.fireChannelRead(msg);
        }

        @Override
        public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
            count(writes, shortWrites, Set.of("writeCall", "writeReply"));
            ctx.write(msg, promise);
        }

        private static void count(AtomicInteger all, AtomicInteger shortOnes, Set<String> methods) {
            all.incrementAndGet();
            if (StackWalker.getInstance().walk(frames -> frames.anyMatch(frame ->
                    frame.getClassName().equals(InlinePath.class.getName()) && methods.contains(frame.getMethodName())))) {
                shortOnes.incrementAndGet();
            }
        }
    }

    private static RpcRequest echo(Channel channel, int bytes) {
        ByteBuf arguments = channel.alloc().buffer().writeInt(bytes).writeZero(bytes);
        return new RpcRequest(BulkProgram.PROGRAM, 1, BulkProgram.ECHO, arguments).setReplySpace(new ReplySpace(64 + bytes));
    }

    private static void call(Channel client, int times) throws Exception {
        for (int i = 0; i < times; i++) {
            Future<ByteBuf> call = client.pipeline().get(RpcClient.class).call(echo(client, 64));
            RpcRdmaPair.result(call).release();
        }
    }

    private static RpcRdmaBuilder server(VersionPolicy versions, Consumer<ChannelPipeline> handlers) {
        return ShortSends.server().program(new BulkProgram(false)).versions(versions).extensionHandlers(handlers);
    }

    @ParameterizedTest
    @EnumSource(VersionPolicy.class)
    void shouldPassBothWaysOnceTheVersionIsSettled(VersionPolicy versions) throws Exception {
        Watch serverReads = new Watch();
        Watch serverWrites = new Watch();
        Watch clientReads = new Watch();
        Watch clientWrites = new Watch();
        try (RpcRdmaPair pair = new RpcRdmaPair(
                server(versions, pipeline -> pipeline.addFirst(serverWrites).addLast(serverReads)),
                ShortSends.client().versions(versions)
                        .extensionHandlers(pipeline -> pipeline.addFirst(clientWrites).addLast(clientReads)))) {
            call(pair.channel, 10);
        }
        int fromFirst = versions == VersionPolicy.V1_ONLY ? 10 : 9; // in version 2 the first call and its reply settle it
        assertEquals(fromFirst, serverReads.shortReads.get());
        assertEquals(10, serverWrites.shortWrites.get());
        assertEquals(fromFirst, clientWrites.shortWrites.get());
        assertEquals(fromFirst, clientReads.shortReads.get());
        assertEquals(10, serverReads.reads.get());
    }

    @Test
    void shouldGoThroughThePipelineWhereAHandlerStandsBetween() throws Exception {
        Watch reads = new Watch();
        Watch writes = new Watch();
        try (RpcRdmaPair pair = new RpcRdmaPair(
                server(VersionPolicy.V1_ONLY, pipeline -> {
                    shut(pipeline);
                    pipeline.addFirst(writes).addLast(reads);
                }),
                ShortSends.client())) {
            call(pair.channel, 3);
        }
        assertEquals(3, reads.reads.get());
        assertEquals(0, reads.shortReads.get());
        assertEquals(3, writes.writes.get());
        assertEquals(0, writes.shortWrites.get());
    }

    @Test
    void shouldShowAllMessagesToAHandlerThatStandsBetween() throws Exception {
        AtomicInteger seen = new AtomicInteger();
        ChannelHandler between = new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                seen.incrementAndGet();
                ctx.fireChannelRead(msg);
            }
        };
        try (RpcRdmaPair pair = new RpcRdmaPair(
                server(VersionPolicy.V1_ONLY, pipeline ->
                        pipeline.addAfter(pipeline.context(CreditGate.class).name(), "between", between)),
                ShortSends.client())) {
            call(pair.channel, 5);
        }
        assertEquals(5, seen.get());
    }

    @Test
    void shouldGoThroughThePipelineWithTheReverseDirection() throws Exception {
        Watch watch = new Watch();
        try (RpcRdmaPair pair = new RpcRdmaPair(
                server(VersionPolicy.V1_ONLY, pipeline -> pipeline.addLast(watch)).reverse(4),
                ShortSends.client().program(new BulkProgram(false)).reverse(4))) {
            call(pair.channel, 3);
        }
        assertEquals(3, watch.reads.get());
        assertEquals(0, watch.shortReads.get());
    }
}
