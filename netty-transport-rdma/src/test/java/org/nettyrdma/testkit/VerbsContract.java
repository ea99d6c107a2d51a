package org.nettyrdma.testkit;

import org.junit.jupiter.api.Nested;
import org.nettyrdma.verbs.Capabilities;
import org.nettyrdma.verbs.VerbsProvider;

/**
 * What every provider must do, without a channel. To run it on another provider, extend this and override {@link #provider}. The
 * parts can be run one by one, too. A test of something that the provider cannot do, by its {@link Capabilities}, is skipped, or
 * demands that the provider refuses it.
 *
 * <p>The tests listen at {@link TestAddress#LOCAL}, connect with a port that the system has chosen, and look for the provider by
 * its name with {@link java.util.ServiceLoader} in a JVM of their own.
 */
public abstract class VerbsContract {

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
    class Memory extends VerbsMemoryContract {
        @Override
        protected VerbsProvider provider() {
            return VerbsContract.this.provider();
        }
    }

    @Nested
    class Connecting extends VerbsConnectingContract {
        @Override
        protected VerbsProvider provider() {
            return VerbsContract.this.provider();
        }
    }

    @Nested
    class Messages extends VerbsMessagesContract {
        @Override
        protected VerbsProvider provider() {
            return VerbsContract.this.provider();
        }
    }

    @Nested
    class SharedReceives extends VerbsSharedReceivesContract {
        @Override
        protected VerbsProvider provider() {
            return VerbsContract.this.provider();
        }
    }

    @Nested
    class RemoteMemory extends VerbsRemoteMemoryContract {
        @Override
        protected VerbsProvider provider() {
            return VerbsContract.this.provider();
        }

        @Override
        protected Refusals refusals() {
            return VerbsContract.this.refusals();
        }
    }

    @Nested
    class ImmediateData extends VerbsImmediateDataContract {
        @Override
        protected VerbsProvider provider() {
            return VerbsContract.this.provider();
        }
    }

    @Nested
    class Closing extends VerbsClosingContract {
        @Override
        protected VerbsProvider provider() {
            return VerbsContract.this.provider();
        }
    }

    @Nested
    class Polling extends VerbsPollingContract {
        @Override
        protected VerbsProvider provider() {
            return VerbsContract.this.provider();
        }
    }
}
