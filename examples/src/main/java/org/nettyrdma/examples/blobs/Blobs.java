package org.nettyrdma.examples.blobs;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaEventLoopGroup;
import org.nettyrdma.channel.RdmaServerChannel;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.codec.oncrpc.ReplySpace;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcProgram;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.codec.rpcrdma.CallLayout;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.RpcRdma;
import org.nettyrdma.codec.rpcrdma.UpperLayerBinding;

/** A store of named bytes. Puts the bytes of a file, gets them back into another file, and prints how they travelled. */
public final class Blobs implements RpcProgram {

    private static final int PROGRAM = 0x20000002;
    private static final int VERSION = 1;
    /** Takes {@code string name; opaque bytes}, returns nothing. */
    private static final int PUT = 1;
    /** Takes {@code string name}, returns {@code opaque bytes}; none if there is no such name. */
    private static final int GET = 2;
    private static final int MAX_NAME = 255;
    private static final int MAX_BYTES = 1 << 20;

    private final Map<String, byte[]> blobs = new ConcurrentHashMap<>();

    private Blobs() {
    }

    /**
     * Runs server and client.
     *
     * @param arguments a file of at most 1 MiB, and the file to write what has come back
     * @throws Exception if a call or a file fails
     */
    public static void main(String[] arguments) throws Exception {
        if (arguments.length != 2) {
            throw new IllegalArgumentException("usage: examples/run blobs FILE COPY");
        }
        byte[] bytes = Files.readAllBytes(Path.of(arguments[0]));
        RdmaEventLoopGroup group = new RdmaEventLoopGroup(2);
        try {
            RpcRdma rpc = RpcRdma.server().program(new Blobs()).binding(new Binding()).build();
            Channel server = rpc.configure(new ServerBootstrap().group(group).channel(RdmaServerChannel.class))
                    .bind("127.0.0.1", 0).sync().channel();
            Channel client = RpcRdma.client().binding(new Binding()).build()
                    .configure(new Bootstrap().group(group).channel(RdmaChannel.class))
                    .connect(server.localAddress()).sync().channel();
            put(client, "example", bytes);
            Files.write(Path.of(arguments[1]), get(client, "example"));
            System.out.println("read from the client's memory: " + rpc.statistics().get(Counter.READ_CHUNK_BYTES));
            System.out.println("written to the client's memory: " + rpc.statistics().get(Counter.WRITE_CHUNK_BYTES));
        } finally {
            group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        }
    }

    private static void put(Channel client, String name, byte[] bytes) throws InterruptedException {
        ByteBuf arguments = client.alloc().buffer(MAX_NAME + bytes.length + 16);
        Xdr.writeString(arguments, name);
        Xdr.writeOpaque(arguments, bytes);
        client.pipeline().get(RpcClient.class).call(new RpcRequest(PROGRAM, VERSION, PUT, arguments)).sync().getNow().release();
    }

    private static byte[] get(Channel client, String name) throws InterruptedException {
        ByteBuf arguments = client.alloc().buffer();
        Xdr.writeString(arguments, name);
        ByteBuf results = client.pipeline().get(RpcClient.class)
                .call(new RpcRequest(PROGRAM, VERSION, GET, arguments)).sync().getNow();
        try {
            return Xdr.readOpaque(results, MAX_BYTES, "bytes");
        } finally {
            results.release();
        }
    }

    // --- The server

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
        String name = Xdr.readString(call.arguments(), MAX_NAME, "name"); // what it throws is answered with GARBAGE_ARGS
        switch (call.procedure()) {
            case PUT -> {
                blobs.put(name, Xdr.readOpaque(call.arguments(), MAX_BYTES, "bytes"));
                call.reply(Unpooled.EMPTY_BUFFER);
            }
            case GET -> {
                byte[] bytes = blobs.getOrDefault(name, new byte[0]);
                ByteBuf results = call.alloc().buffer(Integer.BYTES + Xdr.paddedLength(bytes.length)); // registered memory
                Xdr.writeOpaque(results, bytes);
                call.reply(results);
            }
            default -> call.replyProcedureUnavailable();
        }
    }

    /** Where the bulk data is, for both sides. */
    private static final class Binding implements UpperLayerBinding {

        @Override
        public int program() {
            return PROGRAM;
        }

        @Override
        public CallLayout layoutOfCall(int version, int procedure, ByteBuf arguments) {
            ByteBuf in = arguments.duplicate(); // its indices are not ours
            Xdr.readString(in, MAX_NAME, "name");
            return switch (procedure) {
                case PUT -> new CallLayout(List.of(itemAt(in, arguments)), new ReplySpace(24));
                case GET -> new CallLayout(List.of(), new ReplySpace(24 + Integer.BYTES, List.of(MAX_BYTES)));
                default -> CallLayout.UNKNOWN;
            };
        }

        @Override
        public List<DataItem> itemsOfReply(int version, int procedure, ByteBuf results) {
            return procedure == GET ? List.of(itemAt(results.duplicate(), results)) : List.of();
        }

        /** The opaque that {@code in} stands before. */
        private static DataItem itemAt(ByteBuf in, ByteBuf start) {
            int length = Xdr.readOpaqueLength(in, MAX_BYTES, "bytes");
            return new DataItem(in.readerIndex() - start.readerIndex(), length);
        }
    }
}
