package org.nettyrdma.streamtests.testsuite;

import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.testsuite.transport.AbstractSingleThreadEventLoopTest;
import org.junit.jupiter.api.Assumptions;
import org.nettyrdma.streamtests.StreamTransport;

class StreamEventLoopTest extends AbstractSingleThreadEventLoopTest {

    @Override
    protected boolean supportsChannelIteration() {
        return true;
    }

    @Override
    protected EventLoopGroup newEventLoopGroup() {
        return StreamTransport.newGroup(0, "testsuite-loop");
    }

    @Override
    protected Channel newChannel() {
        return StreamTransport.newChannel();
    }

    @Override
    protected Class<? extends ServerChannel> serverChannelClass() {
        return StreamTransport.serverChannelClass();
    }

    /** What Netty 4.2 asks for. */
    protected EventLoopGroup newAutoScalingEventLoopGroup() {
        return Assumptions.abort("This group has the number of threads that it was made with.");
    }
}
