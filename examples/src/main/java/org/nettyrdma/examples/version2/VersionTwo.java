package org.nettyrdma.examples.version2;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaEventLoopGroup;
import org.nettyrdma.channel.RdmaServerChannel;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcProgram;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.rpcrdma.CallRoute;
import org.nettyrdma.codec.rpcrdma.ConnectionTerms;
import org.nettyrdma.codec.rpcrdma.RpcRdma;
import org.nettyrdma.codec.rpcrdma.RpcRdmaBuilder;
import org.nettyrdma.codec.rpcrdma.VersionPolicy;
import org.nettyrdma.codec.rpcrdma.characteristics.Characteristics;
import org.nettyrdma.codec.rpcrdma.characteristics.CharacteristicsHandler;
import org.nettyrdma.codec.rpcrdma.characteristics.Outcome;
import org.nettyrdma.codec.rpcrdma.header.TransportProperty;

/** A client that asks its server for larger receive buffers, after which larger calls travel without chunks. */
public final class VersionTwo implements RpcProgram {

    private static final int PROGRAM = 0x20000005;
    private static final int VERSION = 1;
    private static final int LENGTH = 1;
    private static final int LARGE_CALL_BYTES = 10_000;
    private static final int RECEIVE_BUFFER_BYTES = 16_384;

    private VersionTwo() {
    }

    /**
     * Runs server and client.
     *
     * @param arguments none
     * @throws Exception if a call fails
     */
    public static void main(String[] arguments) throws Exception {
        RdmaEventLoopGroup group = new RdmaEventLoopGroup(2);
        try {
            Channel server = withVersionTwo(RpcRdma.server().program(new VersionTwo()))
                    .configure(new ServerBootstrap().group(group).channel(RdmaServerChannel.class))
                    .bind("127.0.0.1", 0).sync().channel();
            AtomicReference<CallRoute> route = new AtomicReference<>();
            Channel client = withVersionTwo(RpcRdma.client().inlineThresholdBytes(RECEIVE_BUFFER_BYTES) // what it sends at most
                            .callObserver((program, version, procedure, call, reply) -> route.set(call)))
                    .configure(new Bootstrap().group(group).channel(RdmaChannel.class))
                    .connect(server.localAddress()).sync().channel();
            call(client, LARGE_CALL_BYTES);
            System.out.println("a large call: " + route);
            printTerms(client);
            Future<Outcome> outcome = CharacteristicsHandler.of(client)
                    .request(TransportProperty.RECEIVE_BUFFER_SIZE, (long) RECEIVE_BUFFER_BYTES);
            while (!outcome.isDone()) {
                call(client, 0); // the server changes its buffers as messages use them up
            }
            System.out.println("larger receive buffers: " + outcome.sync().getNow().dispositions());
            printTerms(client);
            call(client, LARGE_CALL_BYTES);
            System.out.println("a large call: " + route);
        } finally {
            group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        }
    }

    /** {@link VersionPolicy#PREFER_V2} speaks version 1 with peers that have no other; the characteristics do nothing then. */
    private static RpcRdma withVersionTwo(RpcRdmaBuilder builder) {
        Characteristics characteristics = Characteristics.builder().build();
        return builder.versions(VersionPolicy.PREFER_V2)
                .extensions(characteristics.extensions()).extensionHandlers(characteristics::install)
                .build();
    }

    private static void call(Channel client, int bytes) throws InterruptedException {
        ByteBuf question = client.alloc().buffer().writeZero(bytes);
        client.pipeline().get(RpcClient.class).call(new RpcRequest(PROGRAM, VERSION, LENGTH, question)).sync().getNow().release();
    }

    private static void printTerms(Channel client) {
        ConnectionTerms terms = RpcRdma.connection(client).terms();
        System.out.println("version " + terms.version() + ", largest send: " + terms.sendBytes());
    }

    @Override
    public int program() {
        return PROGRAM;
    }

    @Override
    public int lowestVersion() {
        return VERSION;
    }

    @Override
    public int highestVersion() {
        return VERSION;
    }

    @Override
    public void call(RpcCall call) {
        call.reply(call.alloc().buffer().writeInt(call.arguments().readableBytes()));
    }
}
