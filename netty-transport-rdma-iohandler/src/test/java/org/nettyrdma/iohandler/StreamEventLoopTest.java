package org.nettyrdma.iohandler;

import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.testsuite.transport.AbstractSingleThreadEventLoopTest;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Assumptions;
import org.nettyrdma.channel.RdmaServerStreamChannel;
import org.nettyrdma.channel.RdmaStreamChannel;

/**
 * What event loops of Netty's own transports pass. The tests of groups that scale run with
 * {@code -Dnettyrdma.test.autoScaling=true}: on a busy machine they fail by luck, with NIO as often. {@link RdmaIoHandlerTest}
 * has event loops that rest.
 */
class StreamEventLoopTest extends AbstractSingleThreadEventLoopTest {

    @Override
    protected EventLoopGroup newEventLoopGroup() {
        return new MultiThreadIoEventLoopGroup(RdmaIoHandler.newFactory());
    }

    @Override
    protected EventLoopGroup newAutoScalingEventLoopGroup() {
        Assumptions.assumeTrue(Boolean.getBoolean("nettyrdma.test.autoScaling"));
        return new MultiThreadIoEventLoopGroup(SCALING_MAX_THREADS, (Executor) null, AUTO_SCALING_CHOOSER_FACTORY,
                RdmaIoHandler.newFactory());
    }

    @Override
    protected Channel newChannel() {
        return new RdmaStreamChannel();
    }

    @Override
    protected Class<? extends ServerChannel> serverChannelClass() {
        return RdmaServerStreamChannel.class;
    }
}
