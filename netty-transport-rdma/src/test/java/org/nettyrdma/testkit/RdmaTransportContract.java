package org.nettyrdma.testkit;

import io.netty.channel.EventLoopGroup;
import org.junit.jupiter.api.Nested;
import org.nettyrdma.channel.IdleStrategy;
import org.nettyrdma.verbs.VerbsProvider;

/**
 * What every provider must do below a channel. To run it on another provider, extend this and override {@link #provider}. The
 * parts can be run one by one, too. Each test has event loops of its own.
 */
public abstract class RdmaTransportContract {

    /**
     * The provider under test.
     *
     * @return a provider that is available; the same with each call
     */
    protected abstract VerbsProvider provider();

    /**
     * Event loops of the provider under test. Each test stops its own.
     *
     * @param threads      how many
     * @param idleStrategy what they do when there is nothing to do
     * @return loops of this transport, unless a test overrides it
     */
    protected EventLoopGroup newGroup(int threads, IdleStrategy idleStrategy) {
        return TransportFixture.newGroup(threads, provider(), idleStrategy);
    }

    /**
     * What the provider refuses.
     *
     * @return all, unless a test overrides it
     */
    protected Refusals refusals() {
        return Refusals.ALL;
    }

    @Nested
    class Connecting extends ConnectingContract {
        @Override
        protected VerbsProvider provider() {
            return RdmaTransportContract.this.provider();
        }

        @Override
        protected EventLoopGroup newGroup(int threads, IdleStrategy idleStrategy) {
            return RdmaTransportContract.this.newGroup(threads, idleStrategy);
        }
    }

    @Nested
    class Messages extends MessagesContract {
        @Override
        protected VerbsProvider provider() {
            return RdmaTransportContract.this.provider();
        }

        @Override
        protected EventLoopGroup newGroup(int threads, IdleStrategy idleStrategy) {
            return RdmaTransportContract.this.newGroup(threads, idleStrategy);
        }
    }

    @Nested
    class ReceiveBuffers extends ReceiveBuffersContract {
        @Override
        protected VerbsProvider provider() {
            return RdmaTransportContract.this.provider();
        }

        @Override
        protected EventLoopGroup newGroup(int threads, IdleStrategy idleStrategy) {
            return RdmaTransportContract.this.newGroup(threads, idleStrategy);
        }
    }

    @Nested
    class RemoteMemory extends RemoteMemoryContract {
        @Override
        protected VerbsProvider provider() {
            return RdmaTransportContract.this.provider();
        }

        @Override
        protected EventLoopGroup newGroup(int threads, IdleStrategy idleStrategy) {
            return RdmaTransportContract.this.newGroup(threads, idleStrategy);
        }

        @Override
        protected Refusals refusals() {
            return RdmaTransportContract.this.refusals();
        }
    }

    @Nested
    class Closing extends ClosingContract {
        @Override
        protected VerbsProvider provider() {
            return RdmaTransportContract.this.provider();
        }

        @Override
        protected EventLoopGroup newGroup(int threads, IdleStrategy idleStrategy) {
            return RdmaTransportContract.this.newGroup(threads, idleStrategy);
        }
    }

    @Nested
    class EventLoops extends EventLoopContract {
        @Override
        protected VerbsProvider provider() {
            return RdmaTransportContract.this.provider();
        }

        @Override
        protected EventLoopGroup newGroup(int threads, IdleStrategy idleStrategy) {
            return RdmaTransportContract.this.newGroup(threads, idleStrategy);
        }
    }
}
