package org.nettyrdma.verbs.disni;

import java.nio.ByteOrder;

/** Numbers that libibverbs wants as they are on the wire, while the rest of its structures is in native order. */
final class NetworkOrder {

    private static final boolean LITTLE_ENDIAN = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;

    private NetworkOrder() {
    }

    /** Turns a number into its network order, or back. */
    static int swap(int number) {
        return LITTLE_ENDIAN ? Integer.reverseBytes(number) : number;
    }
}
