package org.nettyrdma.verbs;

import org.nettyrdma.channel.Rdma;
import org.nettyrdma.testing.DeviceRefusals;
import org.nettyrdma.testing.RequiresRdmaDevice;
import org.nettyrdma.testkit.Refusals;
import org.nettyrdma.testkit.VerbsContract;

@RequiresRdmaDevice
class DisniVerbsContractTest extends VerbsContract {

    @Override
    protected VerbsProvider provider() {
        return Rdma.provider("disni");
    }

    @Override
    protected Refusals refusals() {
        return DeviceRefusals.of(provider());
    }
}
