package org.nettyrdma.streamtests.testsuite;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapComboFactory;
import io.netty.testsuite.transport.socket.SocketDataReadInitialStateTest;
import java.util.List;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

class StreamDataReadInitialStateTest extends SocketDataReadInitialStateTest {

    @Override
    protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
        return StreamPermutation.both();
    }

    @Disabled("Its client is connected before the server reads; the program accepts a queue pair, not the system.")
    @Override
    @Test
    public void testAutoReadOffNoDataReadUntilReadCalled(TestInfo info) {
        throw new IllegalStateException();
    }
}
