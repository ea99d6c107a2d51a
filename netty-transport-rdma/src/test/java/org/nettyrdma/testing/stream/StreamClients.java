package org.nettyrdma.testing.stream;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelOption;
import io.netty.util.concurrent.Promise;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** The clients of {@link StreamPeer}. */
final class StreamClients {

    private static final long PATIENCE_SECONDS = 60;

    private final StreamTransport transport;

    StreamClients(StreamTransport transport) {
        this.transport = transport;
    }

    /** What {@code rstream -s} does; returns how long the transfers took, in nanoseconds. */
    long rstream(InetSocketAddress server, TransferSize size) throws Exception {
        return this.<Long>run(server, false, result -> new RstreamHandler(size, true, result));
    }

    /** Sends and receives at once; returns {@code sent BYTES CHECKSUM received BYTES CHECKSUM}. */
    String exchange(InetSocketAddress server, long bytes, long expected) throws Exception {
        return this.<String>run(server, true, result -> new ExchangeHandler(bytes, expected, result));
    }

    private <T> T run(InetSocketAddress server, boolean halfClosure, Function<Promise<T>, ChannelHandler> handler)
            throws Exception {
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (true) {
            Promise<T> result = transport.loops().next().newPromise();
            new Bootstrap().group(transport.loops()).channel(transport.client())
                    .option(ChannelOption.ALLOW_HALF_CLOSURE, halfClosure).handler(handler.apply(result)).connect(server)
                    .addListener(connected -> {
                        if (!connected.isSuccess()) {
                            result.tryFailure(new ConnectException("no connection: " + connected.cause()));
                        }
                    });
            result.await();
            // Programs that serve one client only are started anew each time, which takes a while.
            if (!(result.cause() instanceof ConnectException) || System.nanoTime() - deadlineNanos > 0) {
                return result.sync().getNow();
            }
            TimeUnit.MILLISECONDS.sleep(100);
        }
    }
}
