package org.nettyrdma.codec.rpcrdma;

import org.nettyrdma.verbs.VerbsProvider;
import org.nettyrdma.verbs.shm.ShmProvider;

/** The same where both ends have each other's memory mapped. */
class ShmLateAccessTest extends LateAccessTest {

    @Override
    VerbsProvider newProvider() {
        return new ShmProvider();
    }

    @Override
    long violations(VerbsProvider provider) {
        return ((ShmProvider) provider).statistics().violations();
    }

    @Override
    long terminatesReceived(VerbsProvider provider) {
        return ((ShmProvider) provider).statistics().terminatesReceived();
    }
}
