package org.nettyrdma.testing.stream;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpServerExpectContinueHandler;
import io.netty.util.concurrent.Promise;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** The servers of {@link StreamPeer}; each says in its log what became of each connection. */
final class StreamServers {

    private final StreamTransport transport;
    private final Consumer<String> log;

    StreamServers(StreamTransport transport, Consumer<String> log) {
        this.transport = transport;
        this.log = log;
    }

    /** A peer of {@code rstream -s}: the connections, in their order, transfer what the list says. */
    InetSocketAddress rstream(InetSocketAddress address, List<TransferSize> sizes) throws InterruptedException {
        Queue<TransferSize> next = new ArrayDeque<>(sizes);
        return listen(address, false, () -> {
            TransferSize size = next.isEmpty() ? sizes.get(sizes.size() - 1) : next.remove();
            return new ChannelHandler[] {new RstreamHandler(size, false, reported("rstream " + size))};
        });
    }

    /** Sends so many bytes to each client, and takes as many at least. */
    InetSocketAddress exchange(InetSocketAddress address, long bytes) throws InterruptedException {
        return listen(address, true, () -> new ChannelHandler[] {new ExchangeHandler(bytes, bytes, reported("exchange"))});
    }

    InetSocketAddress http(InetSocketAddress address) throws InterruptedException {
        return listen(address, false, () -> new ChannelHandler[] {new HttpServerCodec(),
            new HttpServerExpectContinueHandler(), new HttpHandler(what -> log.accept("http " + what))});
    }

    private <T> Promise<T> reported(String what) {
        Promise<T> result = transport.loops().next().newPromise();
        result.addListener(done -> log.accept(what
                + (done.isSuccess() ? " passed " + done.getNow() : " failed " + done.cause())));
        return result;
    }

    private InetSocketAddress listen(InetSocketAddress address, boolean halfClosure, Supplier<ChannelHandler[]> handlers)
            throws InterruptedException {
        return (InetSocketAddress) new ServerBootstrap().group(transport.loops()).channel(transport.server())
                .childOption(ChannelOption.ALLOW_HALF_CLOSURE, halfClosure)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        channel.pipeline().addLast(handlers.get());
                    }
                }).bind(address).sync().channel().localAddress();
    }

    static InetSocketAddress address(String host, int port) throws UnknownHostException {
        return new InetSocketAddress(InetAddress.getByName(host), port);
    }
}
