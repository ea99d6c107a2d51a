package org.nettyrdma.streamtests.testsuite;

import io.netty.bootstrap.Bootstrap;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapFactory;
import io.netty.testsuite.transport.socket.WriteBeforeRegisteredTest;
import java.util.List;

class StreamWriteBeforeRegisteredTest extends WriteBeforeRegisteredTest {

    @Override
    protected List<BootstrapFactory<Bootstrap>> newFactories() {
        return StreamPermutation.clients();
    }
}
