package org.nettyrdma.streamtests.testsuite;

import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.testsuite.transport.AbstractSingleThreadEventLoopTest;
import org.junit.jupiter.api.Assumptions;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaEventLoopGroup;
import org.nettyrdma.channel.RdmaServerChannel;

class MessageEventLoopTest extends AbstractSingleThreadEventLoopTest {

    @Override
    protected boolean supportsChannelIteration() {
        return true;
    }

    @Override
    protected EventLoopGroup newEventLoopGroup() {
        return new RdmaEventLoopGroup();
    }

    @Override
    protected Channel newChannel() {
        return new RdmaChannel();
    }

    @Override
    protected Class<? extends ServerChannel> serverChannelClass() {
        return RdmaServerChannel.class;
    }

    /** What Netty 4.2 asks for. */
    protected EventLoopGroup newAutoScalingEventLoopGroup() {
        return Assumptions.abort("This group has the number of threads that it was made with.");
    }
}
