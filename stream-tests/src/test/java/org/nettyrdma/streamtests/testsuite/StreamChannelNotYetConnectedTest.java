package org.nettyrdma.streamtests.testsuite;

import io.netty.bootstrap.Bootstrap;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapFactory;
import io.netty.testsuite.transport.socket.SocketChannelNotYetConnectedTest;
import java.util.List;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

class StreamChannelNotYetConnectedTest extends SocketChannelNotYetConnectedTest {

    @Override
    protected List<BootstrapFactory<Bootstrap>> newFactories() {
        return StreamPermutation.clients();
    }

    @Disabled("Its server is of NIO.")
    @Override
    @Test
    public void readMustBePendingUntilChannelIsActive(TestInfo info) {
        throw new IllegalStateException();
    }
}
