package org.nettyrdma.streamtests.testsuite;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapComboFactory;
import io.netty.testsuite.transport.socket.CompositeBufferGatheringWriteTest;
import java.util.List;

class StreamCompositeBufferGatheringWriteTest extends CompositeBufferGatheringWriteTest {

    @Override
    protected List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> newFactories() {
        return StreamPermutation.both();
    }
}
