package org.nettyrdma.testkit;

import java.net.InetAddress;
import java.net.UnknownHostException;

/** Where the tests listen: the loopback, or where an RDMA device is ({@code -Drdma.address}). */
public final class TestAddress {

    private static final String PROPERTY = "rdma.address";

    /** The address. */
    public static final InetAddress LOCAL = find();

    private TestAddress() {
    }

    /**
     * Whether it was chosen by the property.
     *
     * @return {@code true} if it was
     */
    public static boolean isGiven() {
        return System.getProperty(PROPERTY) != null;
    }

    private static InetAddress find() {
        String address = System.getProperty(PROPERTY);
        try {
            return address == null ? InetAddress.getLoopbackAddress() : InetAddress.getByName(address);
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException("rdma.address: " + address, e);
        }
    }
}
