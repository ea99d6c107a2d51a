package org.nettyrdma.verbs.support;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import org.junit.jupiter.api.Test;

class AcceptorTest {

    private static final byte REJECTION = 7;

    @Test
    void shouldCloseAConnectionWhoseRequestThereIsNoMemoryToTell() throws Exception {
        ShortHeap.run(Program.class);
    }

    /** Behind what has closed the listener, or behind the last that its context delivers. */
    @Test
    void shouldRejectARequestThatTheUserWasNotToldOfWhenItCloses() throws IOException {
        DeliveryRing deliveries = new DeliveryRing();
        ReadySockets sockets = new ReadySockets();
        ServerSocketChannel listener = ServerSocketChannel.open()
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        try (SocketChannel peer = SocketChannel.open(listener.getLocalAddress());
                SocketChannel accepted = listener.accept()) {
            Acceptor acceptor = new Acceptor(listener, sockets, new TimerQueue(System::nanoTime), deliveries, null, null);
            acceptor.complete(new Request(accepted, peer), sockets.register(accepted, 0, null));
            sockets.progress();
            assertTrue(accepted.isOpen());
            listener.close();
            acceptor.close();
            assertFalse(accepted.isOpen());
            ByteBuffer answer = ByteBuffer.allocate(2);
            assertEquals(1, peer.read(answer));
            assertEquals(REJECTION, answer.get(0));
            assertEquals(-1, peer.read(answer));
            assertEquals(1, deliveries.deliver(null, 1)); // which tells nobody
        } finally {
            listener.close();
            sockets.close();
        }
    }

    private static final class Request extends SocketConnectionRequest {

        Request(SocketChannel accepted, SocketChannel peer) throws IOException {
            super(accepted, accepted.getLocalAddress(), peer.getLocalAddress());
        }

        @Override
        public ByteBuffer privateData() {
            return ByteBuffer.allocate(0);
        }

        @Override
        protected ByteBuffer rejection(ByteBuffer privateData) {
            return ByteBuffer.wrap(new byte[] {REJECTION});
        }
    }

    /** Nobody is told of anything. */
    static final class Program {

        public static void main(String[] arguments) throws IOException {
            DeliveryRing deliveries = new DeliveryRing();
            ReadySockets sockets = new ReadySockets();
            try (ServerSocketChannel listener = ServerSocketChannel.open()
                    .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
                    SocketChannel peer = SocketChannel.open(listener.getLocalAddress());
                    SocketChannel accepted = listener.accept()) {
                Acceptor acceptor = new Acceptor(listener, sockets, new TimerQueue(System::nanoTime), deliveries, null, null);
                var request = new Request(accepted, peer);
                SelectionKey key = sockets.register(accepted, 0, null);
                assertThrows(OutOfMemoryError.class, () -> {
                    while (true) {
                        deliveries.event(() -> { });
                    }
                });
                assertThrows(OutOfMemoryError.class, () -> {
                    acceptor.complete(request, key);
                    sockets.progress();
                });
                assertFalse(accepted.isOpen());
            } finally {
                sockets.close();
            }
        }
    }
}
