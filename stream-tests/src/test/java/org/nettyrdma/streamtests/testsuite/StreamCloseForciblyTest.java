package org.nettyrdma.streamtests.testsuite;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapComboFactory;
import io.netty.testsuite.transport.socket.SocketCloseForciblyTest;
import java.util.List;

class StreamCloseForciblyTest extends SocketCloseForciblyTest {

    @Override
    protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
        return StreamPermutation.both();
    }
}
