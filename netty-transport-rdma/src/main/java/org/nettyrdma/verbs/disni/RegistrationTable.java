package org.nettyrdma.verbs.disni;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What is registered with a device, and the memory. Where a registration cannot be ended, the device may still reach the memory,
 * and so it is kept here for good: the garbage collector would give it to others. Guarded by the device.
 */
final class RegistrationTable {

    private static final Logger LOGGER = LoggerFactory.getLogger(RegistrationTable.class);

    /** Ends a registration. */
    interface Ending {

        void deregister(Registration registration) throws IOException;
    }

    private final Ending ending;
    private final Map<Registration, ByteBuffer> memory = new HashMap<>();

    RegistrationTable(Ending ending) {
        this.ending = ending;
    }

    void add(Registration registration, ByteBuffer registered) {
        memory.put(registration, registered);
    }

    /**
     * Ends a registration, if that was not done before.
     *
     * @throws IOException if the device may still reach its memory
     */
    void end(Registration registration) throws IOException {
        if (memory.containsKey(registration)) {
            ending.deregister(registration);
            memory.remove(registration);
        }
    }

    /** Ends all of them, as far as that can be done. */
    void endAll() {
        for (Registration registration : new ArrayList<>(memory.keySet())) {
            try {
                end(registration);
            } catch (IOException e) {
                // the device has gone
                LOGGER.debug("Memory at {} is not deregistered", Long.toHexString(registration.address()), e);
            }
        }
    }

    /** How many are not ended. */
    int count() {
        return memory.size();
    }
}
