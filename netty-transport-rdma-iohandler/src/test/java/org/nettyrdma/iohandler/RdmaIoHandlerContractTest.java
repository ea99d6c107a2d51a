package org.nettyrdma.iohandler;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import org.junit.jupiter.api.Nested;
import org.nettyrdma.channel.IdleStrategy;
import org.nettyrdma.channel.Rdma;
import org.nettyrdma.testkit.ClosingContract;
import org.nettyrdma.testkit.ConnectingContract;
import org.nettyrdma.testkit.EventLoopContract;
import org.nettyrdma.testkit.MessagesContract;
import org.nettyrdma.testkit.ReceiveBuffersContract;
import org.nettyrdma.testkit.RemoteMemoryContract;
import org.nettyrdma.verbs.VerbsProvider;

/** What channels do on the event loops of this transport, they do on those of Netty 4.2. */
class RdmaIoHandlerContractTest {

    private static EventLoopGroup group(int threads, IdleStrategy idleStrategy) {
        return new MultiThreadIoEventLoopGroup(threads, RdmaIoHandler.newFactory(Rdma.provider(), idleStrategy));
    }

    @Nested
    class Connecting extends ConnectingContract {
        @Override
        protected VerbsProvider provider() {
            return Rdma.provider();
        }

        @Override
        protected EventLoopGroup newGroup(int threads, IdleStrategy idleStrategy) {
            return group(threads, idleStrategy);
        }
    }

    @Nested
    class Messages extends MessagesContract {
        @Override
        protected VerbsProvider provider() {
            return Rdma.provider();
        }

        @Override
        protected EventLoopGroup newGroup(int threads, IdleStrategy idleStrategy) {
            return group(threads, idleStrategy);
        }
    }

    @Nested
    class ReceiveBuffers extends ReceiveBuffersContract {
        @Override
        protected VerbsProvider provider() {
            return Rdma.provider();
        }

        @Override
        protected EventLoopGroup newGroup(int threads, IdleStrategy idleStrategy) {
            return group(threads, idleStrategy);
        }
    }

    @Nested
    class RemoteMemory extends RemoteMemoryContract {
        @Override
        protected VerbsProvider provider() {
            return Rdma.provider();
        }

        @Override
        protected EventLoopGroup newGroup(int threads, IdleStrategy idleStrategy) {
            return group(threads, idleStrategy);
        }
    }

    @Nested
    class Closing extends ClosingContract {
        @Override
        protected VerbsProvider provider() {
            return Rdma.provider();
        }

        @Override
        protected EventLoopGroup newGroup(int threads, IdleStrategy idleStrategy) {
            return group(threads, idleStrategy);
        }
    }

    @Nested
    class EventLoops extends EventLoopContract {
        @Override
        protected VerbsProvider provider() {
            return Rdma.provider();
        }

        @Override
        protected EventLoopGroup newGroup(int threads, IdleStrategy idleStrategy) {
            return group(threads, idleStrategy);
        }
    }
}
