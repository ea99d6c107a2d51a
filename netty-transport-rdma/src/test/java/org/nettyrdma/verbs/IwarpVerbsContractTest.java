package org.nettyrdma.verbs;

import org.nettyrdma.verbs.iwarp.IwarpProvider;

class IwarpVerbsContractTest extends VerbsContract {

    private final VerbsProvider provider = new IwarpProvider();

    @Override
    VerbsProvider provider() {
        return provider;
    }
}
