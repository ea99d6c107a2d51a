package org.nettyrdma.verbs;

import org.nettyrdma.testkit.VerbsContract;
import org.nettyrdma.verbs.shm.ShmProvider;

class ShmVerbsContractTest extends VerbsContract {

    private final VerbsProvider provider = new ShmProvider();

    @Override
    protected VerbsProvider provider() {
        return provider;
    }
}
