package org.nettyrdma.channel;

import org.nettyrdma.testing.RequiresRdmaDevice;
import org.nettyrdma.testkit.RdmaTransportContract;
import org.nettyrdma.verbs.VerbsProvider;

@RequiresRdmaDevice
class DisniTransportTest extends RdmaTransportContract {

    @Override
    protected VerbsProvider provider() {
        return Rdma.provider("disni");
    }
}
