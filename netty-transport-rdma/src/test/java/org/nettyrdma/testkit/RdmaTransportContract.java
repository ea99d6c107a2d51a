package org.nettyrdma.testkit;

import org.junit.jupiter.api.Nested;
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
    }

    @Nested
    class Messages extends MessagesContract {
        @Override
        protected VerbsProvider provider() {
            return RdmaTransportContract.this.provider();
        }
    }

    @Nested
    class ReceiveBuffers extends ReceiveBuffersContract {
        @Override
        protected VerbsProvider provider() {
            return RdmaTransportContract.this.provider();
        }
    }

    @Nested
    class RemoteMemory extends RemoteMemoryContract {
        @Override
        protected VerbsProvider provider() {
            return RdmaTransportContract.this.provider();
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
    }

    @Nested
    class EventLoops extends EventLoopContract {
        @Override
        protected VerbsProvider provider() {
            return RdmaTransportContract.this.provider();
        }
    }
}
