package org.nettyrdma.streamtests.testsuite;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapComboFactory;
import io.netty.testsuite.transport.socket.TrafficShapingHandlerTest;
import java.util.List;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;

@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class StreamTrafficShapingHandlerTest extends TrafficShapingHandlerTest {

    @Override
    protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
        return StreamPermutation.both();
    }

    /** The others judge how fast bytes move, and have ten seconds. So the one that judges nothing loads the classes for them. */
    @Override
    @Test
    @Order(0)
    @Timeout(60)
    public void testNoTrafficShapping(TestInfo testInfo) throws Throwable {
        super.testNoTrafficShapping(testInfo);
    }
}
