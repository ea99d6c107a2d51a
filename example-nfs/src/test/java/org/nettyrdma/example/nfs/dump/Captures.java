package org.nettyrdma.example.nfs.dump;

import java.io.IOException;

/** Captures for tests of other packages. */
public final class Captures {

    private Captures() {
    }

    /** What a client has sent to a Linux server, and its answers. */
    public static byte[] ofLinuxServer() throws IOException {
        return CaptureDumpTest.exchange(new CaptureFile()).bytes();
    }
}
