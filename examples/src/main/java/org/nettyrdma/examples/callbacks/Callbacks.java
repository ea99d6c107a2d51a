package org.nettyrdma.examples.callbacks;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaEventLoopGroup;
import org.nettyrdma.channel.RdmaServerChannel;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcProgram;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.codec.rpcrdma.RpcRdma;

/** A server that reports the progress of a call by calling its client. */
public final class Callbacks {

    /** Served by the server: takes the number of steps, returns nothing. */
    private static final int WORK_PROGRAM = 0x20000003;
    /** Served by the client: takes the number of the step that is done, returns nothing. */
    private static final int PROGRESS_PROGRAM = 0x20000004;
    private static final int VERSION = 1;
    private static final int PROCEDURE = 1;
    private static final int CREDITS = 16;

    private Callbacks() {
    }

    /**
     * Runs server and client.
     *
     * @param arguments how many steps to report; nothing for 3
     * @throws Exception if the call fails
     */
    public static void main(String[] arguments) throws Exception {
        int steps = arguments.length == 0 ? 3 : Integer.parseInt(arguments[0]);
        RpcProgram work = new Program(WORK_PROGRAM, Callbacks::work);
        RpcProgram progress = new Program(PROGRESS_PROGRAM, Callbacks::progress);
        RdmaEventLoopGroup group = new RdmaEventLoopGroup(2);
        try {
            Channel server = RpcRdma.server().reverse(CREDITS).program(work).build()
                    .configure(new ServerBootstrap().group(group).channel(RdmaServerChannel.class))
                    .bind("127.0.0.1", 0).sync().channel();
            Channel client = RpcRdma.client().reverse(CREDITS).program(progress).build()
                    .configure(new Bootstrap().group(group).channel(RdmaChannel.class))
                    .connect(server.localAddress()).sync().channel();
            call(client, WORK_PROGRAM, steps).sync().getNow().release();
            System.out.println("done");
        } finally {
            group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        }
    }

    /** At the server, on the event loop: nothing here waits. */
    private static void work(RpcCall call) {
        nextStep(call, 1, Xdr.readInt(call.arguments(), "steps"));
    }

    private static void nextStep(RpcCall call, int step, int steps) {
        if (step > steps) {
            call.reply(Unpooled.EMPTY_BUFFER);
            return;
        }
        call(call.channel(), PROGRESS_PROGRAM, step).addListener((Future<ByteBuf> reported) -> {
            if (reported.isSuccess()) {
                reported.getNow().release();
                nextStep(call, step + 1, steps);
            } else {
                call.replySystemError(reported.cause());
            }
        });
    }

    /** At the client. */
    private static void progress(RpcCall call) {
        System.out.println("step " + Xdr.readInt(call.arguments(), "step"));
        call.reply(Unpooled.EMPTY_BUFFER);
    }

    /** The same in both directions: each pipeline has an {@link RpcClient}. */
    private static Future<ByteBuf> call(Channel channel, int program, int number) {
        ByteBuf arguments = channel.alloc().buffer();
        Xdr.writeInt(arguments, number);
        return channel.pipeline().get(RpcClient.class).call(new RpcRequest(program, VERSION, PROCEDURE, arguments));
    }

    private record Program(int program, Consumer<RpcCall> procedure) implements RpcProgram {

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
            procedure.accept(call);
        }
    }
}
