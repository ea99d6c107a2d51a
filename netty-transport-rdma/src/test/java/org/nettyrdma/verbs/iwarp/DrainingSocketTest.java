package org.nettyrdma.verbs.iwarp;

import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import org.junit.jupiter.api.Test;
import org.nettyrdma.verbs.support.Pool;
import org.nettyrdma.verbs.support.TimerQueue;

class DrainingSocketTest {

    @Test
    void shouldGiveItsBufferBackThoughThePeerHasResetTheConnection() throws IOException {
        Pool<ByteBuffer> buffers = new Pool<>(() -> ByteBuffer.allocateDirect(100), 1);
        ByteBuffer only = buffers.take();
        buffers.give(only);
        TimerQueue timers = new TimerQueue(System::nanoTime);
        try (Selector selector = Selector.open(); ServerSocketChannel listener = ServerSocketChannel.open()) {
            listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            SocketChannel peer = SocketChannel.open(listener.getLocalAddress());
            SocketChannel channel = listener.accept();
            channel.configureBlocking(false);
            SelectionKey key = channel.register(selector, 0);
            SocketDrain drain = new SocketDrain(timers, buffers, Runnable::run);
            DrainingSocket socket = new DrainingSocket(drain, timers, buffers, channel, key, 0);
            socket.start(1000);
            peer.setOption(StandardSocketOptions.SO_LINGER, 0);
            peer.close();
            selector.select();

            assertThrows(IOException.class, () -> socket.ready(key.readyOps()));

            assertSame(only, buffers.take());
            socket.failed(null);
        }
    }
}
