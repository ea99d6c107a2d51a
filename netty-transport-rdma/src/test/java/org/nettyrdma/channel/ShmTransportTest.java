package org.nettyrdma.channel;

import org.nettyrdma.testkit.RdmaTransportContract;
import org.nettyrdma.verbs.VerbsProvider;

class ShmTransportTest extends RdmaTransportContract {

    @Override
    protected VerbsProvider provider() {
        return Rdma.provider("shm");
    }
}
