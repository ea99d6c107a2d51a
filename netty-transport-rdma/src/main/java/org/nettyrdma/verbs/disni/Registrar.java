package org.nettyrdma.verbs.disni;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Makes memory known to a device for a while. Any thread. */
interface Registrar {

    /** Registers a part of direct memory; {@code access} is made of the {@code ACCESS} constants. */
    Registration register(ByteBuffer memory, int offset, int length, int access) throws IOException;

    /**
     * Ends a registration, if the end of the device has not done so. Where it cannot be ended though the device is there, its
     * memory is kept from the garbage collector; that nobody uses a part of it is the caller's business.
     *
     * @return {@code false} if the device may still reach the memory
     */
    boolean deregister(Registration registration);
}
