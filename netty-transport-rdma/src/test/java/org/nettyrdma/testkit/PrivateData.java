package org.nettyrdma.testkit;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Arrays;

/** Compares the private data of a connection. */
public final class PrivateData {

    private PrivateData() {
    }

    /**
     * Some transports send private data of one length only, and fill up with zeros.
     *
     * @param sent    what one side sent
     * @param arrived what the other side got
     */
    public static void assertArrived(byte[] sent, byte[] arrived) {
        assertArrayEquals(sent, Arrays.copyOf(arrived, sent.length));
        for (int i = sent.length; i < arrived.length; i++) {
            assertEquals(0, arrived[i]);
        }
    }
}
