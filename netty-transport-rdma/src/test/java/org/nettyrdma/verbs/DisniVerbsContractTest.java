package org.nettyrdma.verbs;

import org.nettyrdma.channel.Rdma;
import org.nettyrdma.testing.RequiresRdmaDevice;

@RequiresRdmaDevice
class DisniVerbsContractTest extends VerbsContract {

    @Override
    VerbsProvider provider() {
        return Rdma.provider("disni");
    }
}
