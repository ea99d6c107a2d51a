package org.nettyrdma.example.nfs.server;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import org.nettyrdma.codec.oncrpc.RpcCall;

/** Tells clients apart: by their host, because one host may use several connections one after the other or at once. */
final class ClientAddress {

    private ClientAddress() {
    }

    static String of(RpcCall call) {
        SocketAddress address = call.remoteAddress();
        return address instanceof InetSocketAddress inet && inet.getAddress() != null
                ? inet.getAddress().getHostAddress() : String.valueOf(address);
    }
}
