package org.nettyrdma.iohandler;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import org.nettyrdma.channel.IdleStrategy;
import org.nettyrdma.channel.Rdma;
import org.nettyrdma.testkit.RdmaTransportContract;
import org.nettyrdma.verbs.VerbsProvider;

/** What channels do on the event loops of this transport, they do on those of Netty 4.2. */
class RdmaIoHandlerContractTest extends RdmaTransportContract {

    @Override
    protected VerbsProvider provider() {
        return Rdma.provider();
    }

    @Override
    protected EventLoopGroup newGroup(int threads, IdleStrategy idleStrategy) {
        return new MultiThreadIoEventLoopGroup(threads, RdmaIoHandler.newFactory(provider(), idleStrategy));
    }
}
