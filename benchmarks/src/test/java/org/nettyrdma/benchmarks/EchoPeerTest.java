package org.nettyrdma.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandler;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.concurrent.Future;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.channel.RdmaStreamChannel;
import org.nettyrdma.codec.oncrpc.RecordMarkingCodec;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcServerHandler;

/** The peer without an RPC layer moves as much as the one with it, or their ratio would say nothing. */
class EchoPeerTest {

    private static final Load LOAD = Case.CALLS_32.load();
    private static final int MAX_MESSAGE_BYTES = 4096;

    private final EchoLoad echo = new EchoLoad();

    @ParameterizedTest
    @EnumSource(names = {"NIO_ECHO", "EPOLL_ECHO", "STREAM_ECHO", "NIO_GRPC", "EPOLL_GRPC", "STREAM_GRPC"})
    void shouldServeMessagesOfAllSizes(Peer peer) throws Exception {
        Setup setup = Setup.of(peer);
        try (ServerEnd server = Ends.serve(setup); ClientEnd client = Ends.connect(setup, server.port(), 1)) {
            for (Load load : List.of(LOAD, Case.ECHO_64K.load(), Case.ECHO_1M.load())) {
                client.verify(load);
                LoadResult result = client.run(load, TimeUnit.MILLISECONDS.toNanos(1));
                assertTrue(result.latencies().getTotalCount() >= load.outstanding());
            }
            assertEquals(peer == Peer.STREAM_ECHO || peer == Peer.STREAM_GRPC,
                    client.description().contains(RdmaStreamChannel.class.getSimpleName()), client.description());
        }
    }

    @Test
    void shouldMoveAsManyBytesAsCallsWithRecordMarking() {
        EmbeddedChannel rpcClient = new EmbeddedChannel(new RecordMarkingCodec(MAX_MESSAGE_BYTES), new RpcClient());
        EmbeddedChannel echoClient = new EmbeddedChannel(echo);
        LoadGenerator generator = new LoadGenerator(rpcClient, LOAD, Histograms.newHistogram());
        generator.run(0);
        Future<Void> run = echo.run(echoClient, LOAD, Histograms.newHistogram(), 0);
        ByteBuf calls = sent(rpcClient);
        ByteBuf frames = sent(echoClient);
        assertEquals(LOAD.outstanding() * 112, calls.readableBytes());
        assertEquals(calls.readableBytes(), frames.readableBytes());

        EmbeddedChannel rpcServer = new EmbeddedChannel(new RecordMarkingCodec(MAX_MESSAGE_BYTES),
                new RpcServerHandler(new BenchmarkProgram(MAX_MESSAGE_BYTES)));
        EmbeddedChannel echoServer = new EmbeddedChannel(handler());
        rpcServer.writeInbound(calls);
        echoServer.writeInbound(frames);
        ByteBuf replies = sent(rpcServer);
        ByteBuf answers = sent(echoServer);
        assertEquals(LOAD.outstanding() * 96, replies.readableBytes());
        assertEquals(replies.readableBytes(), answers.readableBytes());
        replies.release();

        while (answers.isReadable(10)) { // wherever a frame is cut
            echoClient.writeInbound(answers.readRetainedSlice(10));
        }
        echoClient.writeInbound(answers);
        assertTrue(run.isSuccess());
        assertFalse(rpcClient.finish());
        generator.close();
        assertFalse(echoClient.finish());
        assertFalse(rpcServer.finish());
        assertFalse(echoServer.finish());
    }

    @Test
    void shouldNoticeWrongBytes() {
        EmbeddedChannel client = new EmbeddedChannel(echo);
        EmbeddedChannel server = new EmbeddedChannel(handler());
        Future<Void> run = echo.run(client, Case.PING_PONG.load(), Histograms.newHistogram(), 0);
        server.writeInbound(sent(client));
        ByteBuf answer = sent(server);
        client.writeInbound(answer.setByte(answer.writerIndex() - 1, answer.getByte(answer.writerIndex() - 1) + 1));
        assertThrows(IllegalStateException.class, run::sync);
        assertFalse(client.finish());
        assertFalse(server.finish());
    }

    private static ChannelHandler handler() {
        return EchoFrames.server();
    }

    private static ByteBuf sent(EmbeddedChannel channel) {
        channel.runPendingTasks();
        ByteBuf all = channel.alloc().buffer();
        for (ByteBuf part = channel.readOutbound(); part != null; part = channel.readOutbound()) {
            all.writeBytes(part);
            part.release();
        }
        return all;
    }
}
