package org.nettyrdma.example.nfs.siege;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import java.util.HexFormat;

/**
 * The server that is attacked, on the loopback interface.
 *
 * @param rdmaPort   where it serves RDMA
 * @param tcpPort    where it serves TCP
 * @param fileHandle of a file of 8 MiB that anybody may read
 */
record AttackTarget(int rdmaPort, int tcpPort, byte[] fileHandle) {

    /** Attackers come from so many addresses. */
    private static final int ADDRESSES = 8;
    private static final int CONNECT_MILLIS = 200;

    static AttackTarget parse(String rdmaPort, String tcpPort, String fileHandle) {
        return new AttackTarget(Integer.parseInt(rdmaPort), Integer.parseInt(tcpPort), HexFormat.of().parseHex(fileHandle));
    }

    String[] toArguments() {
        return new String[] {Integer.toString(rdmaPort), Integer.toString(tcpPort), HexFormat.of().formatHex(fileHandle)};
    }

    /** A connection from the address that has its turn: 127.0.0.2 and up. */
    SocketChannel connect(int port, int turn) throws IOException {
        SocketChannel channel = SocketChannel.open();
        try {
            channel.bind(new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, (byte) (2 + turn % ADDRESSES)}),
                    0));
            channel.socket().connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), CONNECT_MILLIS);
            return channel;
        } catch (IOException e) {
            channel.close();
            throw e;
        }
    }
}
