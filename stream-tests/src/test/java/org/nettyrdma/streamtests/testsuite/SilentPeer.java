package org.nettyrdma.streamtests.testsuite;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;

/**
 * An address that does not answer, on the loopback interface: that of a socket whose backlog is full. The suite's default is one
 * of the Internet, which says something on some machines.
 */
final class SilentPeer implements AutoCloseable {

    private static final int CONNECT_TIMEOUT_MILLIS = 100;

    private final ServerSocket listening;
    private final List<Socket> backlog = new ArrayList<>();

    SilentPeer() {
        try {
            listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
            while (connect()) {
                // The system takes a few more than it was told.
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private boolean connect() throws IOException {
        Socket socket = new Socket();
        backlog.add(socket);
        try {
            socket.connect(address(), CONNECT_TIMEOUT_MILLIS);
            return true;
        } catch (SocketTimeoutException e) {
            return false;
        }
    }

    InetSocketAddress address() {
        return (InetSocketAddress) listening.getLocalSocketAddress();
    }

    @Override
    public void close() throws IOException {
        for (Socket socket : backlog) {
            socket.close();
        }
        listening.close();
    }
}
