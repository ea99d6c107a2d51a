package org.nettyrdma.example.nfs.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.Future;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.codec.oncrpc.RecordMarkingCodec;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.RpcServerHandler;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.example.nfs.protocol.CreateArguments;
import org.nettyrdma.example.nfs.protocol.CreateMode;
import org.nettyrdma.example.nfs.protocol.DirectoryOperationArguments;
import org.nettyrdma.example.nfs.protocol.FileHandle;
import org.nettyrdma.example.nfs.protocol.Mount;
import org.nettyrdma.example.nfs.protocol.MountEntry;
import org.nettyrdma.example.nfs.protocol.MountProcedure;
import org.nettyrdma.example.nfs.protocol.MountResult;
import org.nettyrdma.example.nfs.protocol.MountStatus;
import org.nettyrdma.example.nfs.protocol.Nfs;
import org.nettyrdma.example.nfs.protocol.NfsProcedure;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.nettyrdma.example.nfs.protocol.ReadArguments;
import org.nettyrdma.example.nfs.protocol.Sattr;
import org.nettyrdma.example.nfs.protocol.StableHow;
import org.nettyrdma.example.nfs.protocol.WireForm;
import org.nettyrdma.example.nfs.protocol.WriteArguments;

/** The programs behind a real socket, with a real client. */
@ParameterizedClass
@EnumSource(TestFileSystem.class)
class NfsOverTcpTest extends NfsTest {

    private static final int MAX_MESSAGE_BYTES = 2 * 1024 * 1024;

    private final NioEventLoopGroup group = new NioEventLoopGroup(2);
    private final RpcClient rpcClient = new RpcClient();

    NfsOverTcpTest(TestFileSystem fileSystem) {
        super(fileSystem);
    }

    @BeforeEach
    void connect() throws InterruptedException {
        Channel server = new ServerBootstrap().group(group).channel(NioServerSocketChannel.class)
                .childHandler(initializer(channel -> channel.pipeline().addLast(new RecordMarkingCodec(MAX_MESSAGE_BYTES),
                        new RpcServerHandler(service.nfsProgram(), service.mountProgram()))))
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)).sync().channel();
        new Bootstrap().group(group).channel(NioSocketChannel.class)
                .handler(initializer(channel ->
                        channel.pipeline().addLast(new RecordMarkingCodec(MAX_MESSAGE_BYTES), rpcClient)))
                .connect(server.localAddress()).sync();
    }

    @AfterEach
    void disconnect() {
        group.shutdownGracefully(0, 10, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private static ChannelInitializer<Channel> initializer(Consumer<Channel> initializer) {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                initializer.accept(channel);
            }
        };
    }

    private <T> T call(int program, int version, int procedure, WireForm arguments, Function<ByteBuf, T> reader)
            throws Exception {
        ByteBuf out = Unpooled.buffer();
        arguments.write(out);
        RpcRequest request = new RpcRequest(program, version, procedure, out)
                .setCredential(NfsTestClient.user(USER).toOpaqueAuth());
        ByteBuf results = rpcClient.call(request).get(30, TimeUnit.SECONDS);
        try {
            return reader.apply(results);
        } finally {
            results.release();
        }
    }

    private <T> T callNfs(NfsProcedure procedure, WireForm arguments, Function<ByteBuf, T> reader) throws Exception {
        return call(Nfs.PROGRAM, Nfs.VERSION, procedure.number(), arguments, in -> {
            assertEquals(NfsStatus.OK, NfsStatus.of(in.readInt()));
            return reader.apply(in);
        });
    }

    @Test
    void shouldMountCreateWriteAndRead() throws Exception {
        WireForm path = out -> Xdr.writeString(out, "/");
        FileHandle root = call(Mount.PROGRAM, Mount.VERSION, MountProcedure.MNT.number(), path, in -> {
            assertEquals(MountStatus.OK, MountStatus.read(in));
            return MountResult.read(in).handle();
        });
        FileHandle file = callNfs(NfsProcedure.CREATE, new CreateArguments(new DirectoryOperationArguments(root, "file"),
                CreateMode.GUARDED, Sattr.NONE.withMode(0644), 0), NfsTestClient.Created::read).handle();
        byte[] data = new byte[1024 * 1024 - 1];
        new Random(1).nextBytes(data);
        int written = callNfs(NfsProcedure.WRITE, new WriteArguments(file, 0, data.length, StableHow.FILE_SYNC,
                Unpooled.wrappedBuffer(data)), NfsTestClient.Written::read).count();
        assertEquals(data.length, written);
        NfsTestClient.Data read = callNfs(NfsProcedure.READ, new ReadArguments(file, 0, data.length),
                NfsTestClient.Data::read);
        assertArrayEquals(data, read.bytes());
    }

    @Test
    void shouldAnswerManyCallsAtOnce() throws Exception {
        FileHandle file = client.create(top, "file", "hello");
        List<Future<ByteBuf>> futures = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            ByteBuf out = Unpooled.buffer();
            new ReadArguments(file, 0, 5).write(out);
            futures.add(rpcClient.call(new RpcRequest(Nfs.PROGRAM, Nfs.VERSION, NfsProcedure.READ.number(), out)
                    .setCredential(NfsTestClient.user(USER).toOpaqueAuth())));
        }
        for (Future<ByteBuf> future : futures) {
            ByteBuf results = future.get(30, TimeUnit.SECONDS);
            assertEquals(NfsStatus.OK, NfsStatus.of(results.readInt()));
            byte[] bytes = NfsTestClient.Data.read(results).bytes();
            assertEquals("hello", new String(bytes, StandardCharsets.UTF_8));
            results.release();
        }
    }

    @Test
    void shouldKnowItsClientsByAddress() throws Exception {
        FileHandle root = top;
        call(Mount.PROGRAM, Mount.VERSION, MountProcedure.MNT.number(), out -> Xdr.writeString(out, "/"), in -> root);
        call(Mount.PROGRAM, Mount.VERSION, MountProcedure.DUMP.number(), out -> { }, in -> {
            List<String> hosts = MountEntry.readList(in).stream()
                    .map(MountEntry::host).toList();
            assertEquals(InetAddress.getLoopbackAddress().getHostAddress(), hosts.get(hosts.size() - 1));
            return hosts;
        });
    }
}
