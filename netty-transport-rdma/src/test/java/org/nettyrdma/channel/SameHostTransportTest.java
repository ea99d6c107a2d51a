package org.nettyrdma.channel;

import org.nettyrdma.testkit.RdmaTransportContract;
import org.nettyrdma.verbs.VerbsProvider;

class SameHostTransportTest extends RdmaTransportContract {

    @Override
    protected VerbsProvider provider() {
        return Rdma.provider("iwarp-shm");
    }
}
