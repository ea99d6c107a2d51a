package org.nettyrdma.verbs;

import java.nio.file.Files;
import java.nio.file.Path;
import org.nettyrdma.channel.Rdma;
import org.nettyrdma.testing.RequiresRdmaDevice;
import org.nettyrdma.testkit.VerbsContract;

@RequiresRdmaDevice
class DisniVerbsContractTest extends VerbsContract {

    @Override
    protected VerbsProvider provider() {
        return Rdma.provider("disni");
    }

    /** The driver rxe of Linux 6.1 checks the key and the rights of a memory window, but not its bounds. */
    @Override
    protected boolean checksBounds() {
        return provider().capabilities().exposure() != Capabilities.Exposure.PER_CALL || !drivenBy("rxe");
    }

    /** The driver siw of Linux 6.1 checks the key and the bounds, but not this right. */
    @Override
    protected boolean checksRightToRead() {
        return !drivenBy("siw");
    }

    private static boolean drivenBy(String driver) {
        return Files.exists(Path.of("/sys/class/infiniband", driver + '0'));
    }
}
