package org.nettyrdma.verbs;

import org.nettyrdma.testkit.VerbsContract;
import org.nettyrdma.verbs.iwarp.IwarpProvider;

class IwarpVerbsContractTest extends VerbsContract {

    private final VerbsProvider provider = new IwarpProvider();

    @Override
    protected VerbsProvider provider() {
        return provider;
    }
}
