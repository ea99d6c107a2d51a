package org.nettyrdma.codec.rpcrdma;

import org.nettyrdma.verbs.VerbsProvider;
import org.nettyrdma.verbs.shm.SameHostProvider;

/** The same where each connection chooses between TCP and shared memory. */
class SameHostLateAccessTest extends LateAccessTest {

    @Override
    VerbsProvider newProvider() {
        return new SameHostProvider();
    }

    @Override
    long violations(VerbsProvider provider) {
        SameHostProvider both = (SameHostProvider) provider;
        return both.shm().statistics().violations() + both.iwarp().statistics().violations();
    }

    @Override
    long terminatesReceived(VerbsProvider provider) {
        SameHostProvider both = (SameHostProvider) provider;
        return both.shm().statistics().terminatesReceived() + both.iwarp().statistics().terminatesReceived();
    }
}
