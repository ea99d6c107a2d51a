package org.nettyrdma.documentation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import java.io.IOException;
import java.lang.reflect.Method;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaEventLoopGroup;
import org.nettyrdma.channel.RdmaServerChannel;
import org.nettyrdma.codec.oncrpc.ReplySpace;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcProgram;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.rpcrdma.RpcRdma;

/** The list of classes in docs/architecture.md that an inline call passes, against the stacks of a real call. */
@Timeout(60)
class WayOfACallTest {

    private static final Path PAGE = Documents.PAGES.resolve("architecture.md");
    private static final Pattern ROW = Pattern.compile("(?m)^\\| (\\d+) \\| `(\\w+)` \\| `([\\w.]+)` \\|");
    private static final Pattern COUNT = Pattern.compile("passes (\\d+) classes");
    private static final String OURS = "org.nettyrdma.";

    private static List<String> listed() throws IOException {
        return ROW.matcher(Files.readString(PAGE)).results().map(row -> row.group(2)).toList();
    }

    @Test
    void shouldCountTheClassesOfTheList() throws IOException {
        List<String> numbers = ROW.matcher(Files.readString(PAGE)).results().map(row -> row.group(1)).toList();
        var count = COUNT.matcher(Files.readString(PAGE));

        assertTrue(count.find());
        assertEquals(listed().size(), Integer.parseInt(count.group(1)));
        assertEquals(Stream.iterate(1, number -> number + 1).limit(listed().size()).map(String::valueOf).toList(), numbers);
        assertEquals(listed().size(), listed().stream().distinct().count());
    }

    @Test
    void shouldListClassesWhereTheyAre() throws IOException {
        List<String> missing = ROW.matcher(Files.readString(PAGE)).results()
                .map(row -> "src/main/java/org/nettyrdma/" + row.group(3).replace('.', '/') + '/' + row.group(2) + ".java")
                .filter(file -> Stream.of("netty-transport-rdma", "handler-credit", "codec-rpcrdma")
                        .noneMatch(module -> Files.exists(Documents.ROOT.resolve(module).resolve(file))))
                .toList();
        assertEquals(List.of(), missing);
    }

    /**
     * The stack of the program is in the list, in this order; and so are the stacks of the write and the flush that reach the
     * channel, and all handlers of the pipeline that see messages, writes or flushes pass.
     */
    @Test
    void shouldListTheClassesThatACallPasses() throws Exception {
        Stacks stacks = new Stacks();
        RdmaEventLoopGroup group = new RdmaEventLoopGroup(1);
        try {
            Channel server = new ServerBootstrap().group(group).channel(RdmaServerChannel.class)
                    .childHandler(RpcRdma.server().program(stacks)
                            .extensionHandlers(pipeline -> pipeline.addFirst(stacks.writes())).build())
                    .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)).sync().channel();
            Channel client = new Bootstrap().group(group).channel(RdmaChannel.class).handler(RpcRdma.client().build())
                    .connect(server.localAddress()).sync().channel();
            ByteBuf question = client.alloc().buffer().writeInt(42);
            client.pipeline().get(RpcClient.class)
                    .call(new RpcRequest(0x20000001, 1, 1, question).setReplySpace(new ReplySpace(28))).sync().getNow().release();
        } finally {
            group.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
        }

        List<String> listed = listed();
        assertEquals(stacks.ofCall.stream().sorted((a, b) -> listed.indexOf(a) - listed.indexOf(b)).toList(), stacks.ofCall);
        assertEquals(List.of(), stacks.ofCall.stream().filter(name -> !listed.contains(name)).toList());
        assertEquals(List.of(), stacks.ofWrite.stream().filter(name -> !listed.contains(name)).toList());
        assertTrue(stacks.ofWrite.size() > 3, stacks.ofWrite::toString);
        assertEquals(List.of(), stacks.ofFlush.stream().filter(name -> !listed.contains(name)).toList());
        assertTrue(stacks.ofFlush.size() > 3, stacks.ofFlush::toString);
        assertEquals(List.of(), stacks.handlers.stream().filter(name -> !listed.contains(name)).toList());
        assertTrue(stacks.handlers.size() > 3, stacks.handlers::toString);
    }

    private static final class Stacks implements RpcProgram {

        private volatile List<String> ofCall = List.of();
        private volatile List<String> ofWrite = List.of();
        private volatile List<String> ofFlush = List.of();
        private volatile List<String> handlers = List.of();

        @Override
        public int program() {
            return 0x20000001;
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
        public void call(RpcCall call) {
            ofCall = classes();
            handlers = call.channel().pipeline().toMap().values().stream().filter(Stacks::isPassed)
                    .map(handler -> handler.getClass().getSimpleName()).toList();
            call.reply(call.arguments().retain());
        }

        /** Stands next to the channel. */
        private ChannelOutboundHandlerAdapter writes() {
            return new ChannelOutboundHandlerAdapter() {
                @Override
                public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
                    ofWrite = classes();
                    ctx.write(message, promise);
                }

                @Override
                public void flush(ChannelHandlerContext ctx) {
                    ofFlush = classes();
                    ctx.flush();
                }
            };
        }

        /** Whether a handler of the library overrides a method that a call or its reply passes; Netty skips all others. */
        private static boolean isPassed(ChannelHandler handler) {
            return handler.getClass().getName().startsWith(OURS) && !handler.getClass().isAnonymousClass()
                    && Stream.of(handler.getClass().getDeclaredMethods()).map(Method::getName)
                            .anyMatch(Set.of("channelRead", "channelReadComplete", "write", "flush")::contains);
        }

        /** The library's classes on the stack, the first one first. */
        private static List<String> classes() {
            List<String> names = new ArrayList<>();
            StackWalker.getInstance().forEach(frame -> {
                String name = frame.getClassName().replaceFirst("[$].*", "");
                String simpleName = name.substring(name.lastIndexOf('.') + 1);
                if (name.startsWith(OURS) && !name.equals(WayOfACallTest.class.getName())) {
                    names.remove(simpleName); // it came in earlier
                    names.add(0, simpleName);
                }
            });
            return names;
        }
    }
}
