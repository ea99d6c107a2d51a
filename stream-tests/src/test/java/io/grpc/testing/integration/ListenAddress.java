package io.grpc.testing.integration;

import java.net.SocketAddress;

/** The address of the test's server, which only classes of the suite's own package may ask for. */
public final class ListenAddress {

    private ListenAddress() {
    }

    public static SocketAddress of(AbstractInteropTest test) {
        return test.getListenAddress();
    }
}
