package org.nettyrdma.streamtests.testsuite;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapComboFactory;
import io.netty.testsuite.transport.socket.SocketAddressesTest;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.List;

class StreamAddressesTest extends SocketAddressesTest {

    @Override
    protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
        return StreamPermutation.both();
    }

    @Override
    protected void assertAddress(SocketAddress address) {
        InetSocketAddress socketAddress = (InetSocketAddress) address;
        assertNotEquals(0, socketAddress.getPort());
        assertFalse(socketAddress.getAddress().isAnyLocalAddress());
    }
}
