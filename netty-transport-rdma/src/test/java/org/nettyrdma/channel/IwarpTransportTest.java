package org.nettyrdma.channel;

import org.nettyrdma.verbs.VerbsProvider;

class IwarpTransportTest extends RdmaTransportContract {

    @Override
    VerbsProvider provider() {
        return Rdma.provider("iwarp");
    }
}
