package org.nettyrdma.verbs;

import org.nettyrdma.testkit.VerbsContract;
import org.nettyrdma.verbs.shm.SameHostProvider;

class SameHostVerbsContractTest extends VerbsContract {

    private final VerbsProvider provider = new SameHostProvider();

    @Override
    protected VerbsProvider provider() {
        return provider;
    }
}
