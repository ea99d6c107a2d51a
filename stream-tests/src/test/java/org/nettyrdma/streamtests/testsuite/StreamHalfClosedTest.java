package org.nettyrdma.streamtests.testsuite;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapComboFactory;
import io.netty.testsuite.transport.socket.SocketHalfClosedTest;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;

class StreamHalfClosedTest extends SocketHalfClosedTest {

    @Override
    protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
        return StreamPermutation.both();
    }

    @Test
    @Override
    @DisabledIfSystemProperty(named = "org.nettyrdma.provider", matches = "shm", disabledReason = "one end blocks its event loop "
            + "until the other has closed, and that one closes when the first has taken what it was sent")
    public void testAutoCloseFalseDoesShutdownOutput(TestInfo testInfo) throws Throwable {
        super.testAutoCloseFalseDoesShutdownOutput(testInfo);
    }
}
