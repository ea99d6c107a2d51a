package org.nettyrdma.verbs.iwarp;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/** The other end of a TCP connection, played byte by byte. What it has to wait for it gets by pumping the provider's contexts. */
final class RawPeer implements AutoCloseable {

    private final IwarpTestPeer peer;
    private final SocketChannel channel;

    private RawPeer(IwarpTestPeer peer, SocketChannel channel) throws IOException {
        this.peer = peer;
        this.channel = channel;
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.configureBlocking(false);
    }

    /** A listening socket for a queue pair of the provider to connect to. */
    static ServerSocketChannel listen() throws IOException {
        return ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    }

    /** The responder's end of a connection that a queue pair makes; the system completes it whether accepted or not. */
    static RawPeer accept(IwarpTestPeer peer, ServerSocketChannel listener) throws IOException {
        return new RawPeer(peer, listener.accept());
    }

    /** The initiator's end of a connection to a listener of the provider. */
    static RawPeer connect(IwarpTestPeer peer, SocketAddress address) throws IOException {
        return new RawPeer(peer, SocketChannel.open(address));
    }

    /** The same from another address of this machine. */
    static RawPeer connect(IwarpTestPeer peer, SocketAddress address, String from) throws IOException {
        SocketChannel channel = SocketChannel.open().bind(new InetSocketAddress(from, 0));
        channel.connect(address);
        return new RawPeer(peer, channel);
    }

    /** A small one lets the other end know of all that is taken. */
    void setReceiveBufferBytes(int bytes) throws IOException {
        channel.setOption(StandardSocketOptions.SO_RCVBUF, bytes);
    }

    RawPeer send(String digits) throws IOException {
        return send(Hex.bytes(digits));
    }

    RawPeer send(byte[] bytes) throws IOException {
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        while (buffer.hasRemaining()) {
            if (channel.write(buffer) == 0) {
                peer.poll();
            }
        }
        return this;
    }

    /** Sends every byte on its own, and lets the provider take it in before the next. */
    RawPeer sendBytewise(byte[] bytes) throws IOException {
        for (byte b : bytes) {
            send(new byte[] {b});
            peer.poll();
        }
        return this;
    }

    byte[] receive(int length) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(length);
        peer.pump(length + " bytes from the provider", () -> {
            if (read(buffer) < 0) {
                throw new AssertionError("the provider closed the connection after " + Hex.of(buffer.flip()));
            }
            return !buffer.hasRemaining();
        });
        return buffer.array();
    }

    RawPeer expect(String digits) throws IOException {
        String expected = Hex.digits(digits);
        assertEquals(expected, Hex.of(receive(expected.length() / 2)));
        return this;
    }

    /** What the provider still sends until it closes the connection. */
    byte[] receiveAll() throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        ByteBuffer buffer = ByteBuffer.allocate(65536);
        peer.pump("the provider to close the connection", () -> {
            int n = read(buffer.clear());
            all.write(buffer.array(), 0, Math.max(n, 0));
            return n < 0;
        });
        return all.toByteArray();
    }

    RawPeer expectEnd() throws IOException {
        assertEquals("", Hex.of(receiveAll()));
        return this;
    }

    void shutdownOutput() throws IOException {
        channel.shutdownOutput();
    }

    /** Ends the connection as a machine does that knows nothing of it. */
    void reset() throws IOException {
        channel.setOption(StandardSocketOptions.SO_LINGER, 0);
        channel.close();
    }

    private int read(ByteBuffer buffer) {
        try {
            return channel.read(buffer);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
