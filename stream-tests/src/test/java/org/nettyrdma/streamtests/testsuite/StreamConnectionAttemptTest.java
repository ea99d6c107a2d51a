package org.nettyrdma.streamtests.testsuite;

import io.netty.bootstrap.Bootstrap;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapFactory;
import io.netty.testsuite.transport.socket.SocketConnectionAttemptTest;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;

class StreamConnectionAttemptTest extends SocketConnectionAttemptTest {

    private static SilentPeer silent;

    /** Before the class that reads the properties, which is first used by the tests. */
    @BeforeAll
    static void makePeer() {
        silent = new SilentPeer();
        System.setProperty("io.netty.testsuite.badHost", silent.address().getHostString());
        System.setProperty("io.netty.testsuite.badPort", Integer.toString(silent.address().getPort()));
    }

    @AfterAll
    static void endPeer() throws IOException {
        silent.close();
    }

    @Override
    protected List<BootstrapFactory<Bootstrap>> newFactories() {
        return StreamPermutation.clients();
    }

    @Test
    @Override
    @DisabledIfSystemProperty(named = "org.nettyrdma.provider", matches = "shm", disabledReason = "the peer that says nothing is "
            + "one of TCP")
    public void testConnectCancellation(TestInfo testInfo) throws Throwable {
        super.testConnectCancellation(testInfo);
    }
}
