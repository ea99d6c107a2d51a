package org.nettyrdma.testing;

import java.nio.file.Files;
import java.nio.file.Path;
import org.nettyrdma.testkit.Refusals;
import org.nettyrdma.verbs.Capabilities;
import org.nettyrdma.verbs.VerbsProvider;

/** What the software devices of Linux 6.1 refuse: rxe checks no bounds of memory windows, siw not the right to read. */
public final class DeviceRefusals {

    private DeviceRefusals() {
    }

    /**
     * Those of the device that a provider uses.
     *
     * @param provider {@code disni}
     * @return by the names that the laboratory gives its devices
     */
    public static Refusals of(VerbsProvider provider) {
        boolean windows = provider.capabilities().exposure() == Capabilities.Exposure.PER_CALL;
        return new Refusals(!windows || !isThere("rxe0"), !isThere("siw0"), false);
    }

    private static boolean isThere(String device) {
        return Files.exists(Path.of("/sys/class/infiniband", device));
    }
}
