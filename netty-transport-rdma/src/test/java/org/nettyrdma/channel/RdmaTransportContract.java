package org.nettyrdma.channel;

import org.junit.jupiter.api.Nested;
import org.nettyrdma.verbs.VerbsProvider;

/** What every provider must do below a channel. To run it on another provider, extend this and override one method. */
abstract class RdmaTransportContract {

    abstract VerbsProvider provider();

    @Nested
    class Connecting extends ConnectingContract {
        @Override
        VerbsProvider provider() {
            return RdmaTransportContract.this.provider();
        }
    }

    @Nested
    class Messages extends MessagesContract {
        @Override
        VerbsProvider provider() {
            return RdmaTransportContract.this.provider();
        }
    }

    @Nested
    class ReceiveBuffers extends ReceiveBuffersContract {
        @Override
        VerbsProvider provider() {
            return RdmaTransportContract.this.provider();
        }
    }

    @Nested
    class RemoteMemory extends RemoteMemoryContract {
        @Override
        VerbsProvider provider() {
            return RdmaTransportContract.this.provider();
        }
    }

    @Nested
    class Closing extends ClosingContract {
        @Override
        VerbsProvider provider() {
            return RdmaTransportContract.this.provider();
        }
    }

    @Nested
    class EventLoops extends EventLoopContract {
        @Override
        VerbsProvider provider() {
            return RdmaTransportContract.this.provider();
        }
    }
}
