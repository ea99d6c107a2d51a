package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.nettyrdma.codec.rpcrdma.RpcRdmaPair.awaitValue;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.concurrent.Future;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.nettyrdma.channel.RdmaServerChannel;
import org.nettyrdma.codec.oncrpc.CallExecutor;
import org.nettyrdma.codec.oncrpc.RecordMarkingCodec;
import org.nettyrdma.codec.oncrpc.ReplySpace;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.RpcServerHandler;
import org.nettyrdma.codec.oncrpc.SingleVersionProgram;

/** A peer has a full window of slow calls at a server over RDMA and TCP with one executor, and another one makes one call. */
@Timeout(120)
class FairExecutorTest {

    private static final int PROGRAM = 0x20000099;
    private static final int SLOW = 1;
    private static final int WINDOW = 128;
    private static final int WORKERS = 2;
    private static final int REPLY_BYTES = 28;

    private final ExecutorService threads = Executors.newFixedThreadPool(WORKERS);
    private final AtomicInteger waiting = new AtomicInteger();
    private final AtomicInteger slowCalls = new AtomicInteger();
    private final Semaphore slowCallsMayEnd = new Semaphore(0);
    private final Map<TestTransport, EventLoopGroup> loops = new EnumMap<>(TestTransport.class);
    private final Map<TestTransport, Channel> servers = new EnumMap<>(TestTransport.class);

    /** The answer to a quick call says how many slow ones were begun before. */
    private final class Program implements SingleVersionProgram {

        @Override
        public int program() {
            return PROGRAM;
        }

        @Override
        public void call(RpcCall call) throws InterruptedException {
            if (call.procedure() == SLOW) {
                slowCalls.getAndIncrement();
                slowCallsMayEnd.acquire();
            }
            call.reply(Unpooled.buffer().writeInt(slowCalls.get()));
        }
    }

    private void listen(Executor executor) throws Exception {
        Program program = new Program();
        for (TestTransport transport : TestTransport.values()) {
            loops.put(transport, transport.newGroup(1));
        }
        ServerBootstrap rdma = RpcRdma.server().program(program).executor(executor).build()
                .configure(new ServerBootstrap().group(loops.get(TestTransport.RDMA)).channel(RdmaServerChannel.class));
        ServerBootstrap tcp = new ServerBootstrap().group(loops.get(TestTransport.TCP)).channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new RecordMarkingCodec(1 << 20),
                                new RpcServerHandler(List.of(program), executor));
                    }
                });
        servers.put(TestTransport.RDMA, rdma.bind(RawPeer.loopback()).sync().channel());
        servers.put(TestTransport.TCP, tcp.bind(RawPeer.loopback()).sync().channel());
    }

    @AfterEach
    void end() throws Exception {
        for (Channel server : servers.values()) {
            server.close().sync();
        }
        for (EventLoopGroup group : loops.values()) {
            group.shutdownGracefully(0, 20, TimeUnit.SECONDS).sync();
        }
        slowCallsMayEnd.release(WINDOW);
        threads.shutdown();
        threads.awaitTermination(20, TimeUnit.SECONDS);
    }

    private RpcClient connect(TestTransport transport, String from) throws Exception {
        return transport.client(loops.get(transport))
                .connect(servers.get(transport).localAddress(), new InetSocketAddress(from, 0)).sync().channel().pipeline()
                .get(RpcClient.class);
    }

    @ParameterizedTest
    @CsvSource({"RDMA, RDMA, 127.0.0.1", "RDMA, TCP, 127.0.0.2", "TCP, RDMA, 127.0.0.1", "TCP, TCP, 127.0.0.2"})
    void shouldAnswerBehindOneSlowCallOfAnotherPeer(TestTransport slow, TestTransport quick, String from) throws Exception {
        listen(task -> {
            threads.execute(task);
            waiting.getAndIncrement();
        });
        List<Future<ByteBuf>> calls = slowCalls(slow, from);
        awaitValue(waiting::get, 1 + WINDOW);
        awaitValue(slowCalls::get, WORKERS);
        Future<ByteBuf> quickCall = connect(quick, "127.0.0.1").call(new RpcRequest(PROGRAM, 1, 0));
        awaitValue(waiting::get, 1 + WINDOW + 1);
        slowCallsMayEnd.release();
        ByteBuf answer = quickCall.get(20, TimeUnit.SECONDS);
        assertEquals(WORKERS, answer.readInt());
        answer.release();
        endAll(calls);
    }

    private List<Future<ByteBuf>> slowCalls(TestTransport transport, String from) throws Exception {
        RpcClient greedy = connect(transport, from);
        greedy.call(new RpcRequest(PROGRAM, 1, 0)).get(20, TimeUnit.SECONDS).release(); // from here it has all credits
        List<Future<ByteBuf>> calls = new ArrayList<>();
        for (int i = 0; i < WINDOW; i++) {
            // Where it is not said how large a reply can get, some calls would wait for seconds until they are sent.
            calls.add(greedy.call(new RpcRequest(PROGRAM, 1, SLOW).setReplySpace(new ReplySpace(REPLY_BYTES))));
        }
        return calls;
    }

    private void endAll(List<Future<ByteBuf>> calls) throws Exception {
        slowCallsMayEnd.release(WINDOW);
        for (Future<ByteBuf> call : calls) {
            call.get(20, TimeUnit.SECONDS).release();
        }
    }

    @ParameterizedTest
    @CsvSource({"RDMA, RDMA", "RDMA, TCP", "TCP, RDMA", "TCP, TCP"})
    void shouldAnswerWhileTheCallsOfAnotherAddressRunOnAsManyThreadsAsTheyMay(TestTransport slow, TestTransport quick)
            throws Exception {
        listen(new CallExecutor(threads, WORKERS - 1));
        List<Future<ByteBuf>> calls = slowCalls(slow, "127.0.0.2");
        awaitValue(slowCalls::get, WORKERS - 1);
        RpcClient client = connect(quick, "127.0.0.1");
        for (int i = 0; i < WINDOW; i++) {
            ByteBuf answer = client.call(new RpcRequest(PROGRAM, 1, 0)).get(20, TimeUnit.SECONDS);
            assertEquals(WORKERS - 1, answer.readInt());
            answer.release();
        }
        endAll(calls);
    }
}
