package org.nettyrdma.streamtests.frameworks;

import io.netty.channel.EventLoopGroup;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.nettyrdma.channel.RdmaEventLoopGroup;

/** What docs/frameworks.md takes for granted: a group and an address. {@link FrameworksPageTest} holds the page to the tests. */
@Timeout(60)
abstract class Framework {

    private static final int LENGTH = 300_000;

    final EventLoopGroup group = new RdmaEventLoopGroup(2);
    final InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    /** More than one message of any layer holds. */
    final String text = "x".repeat(LENGTH);

    @AfterEach
    void stop() {
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }
}
