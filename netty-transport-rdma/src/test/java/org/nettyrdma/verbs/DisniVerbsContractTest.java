package org.nettyrdma.verbs;

import org.nettyrdma.channel.Rdma;
import org.nettyrdma.testing.RequiresRdmaDevice;
import org.nettyrdma.testkit.VerbsContract;

@RequiresRdmaDevice
class DisniVerbsContractTest extends VerbsContract {

    @Override
    protected VerbsProvider provider() {
        return Rdma.provider("disni");
    }
}
