package org.nettyrdma.channel;

import org.nettyrdma.testing.DeviceRefusals;
import org.nettyrdma.testing.RequiresRdmaDevice;
import org.nettyrdma.testkit.RdmaTransportContract;
import org.nettyrdma.testkit.Refusals;
import org.nettyrdma.verbs.VerbsProvider;

@RequiresRdmaDevice
class DisniTransportTest extends RdmaTransportContract {

    @Override
    protected VerbsProvider provider() {
        return Rdma.provider("disni");
    }

    @Override
    protected Refusals refusals() {
        return DeviceRefusals.of(provider());
    }
}
