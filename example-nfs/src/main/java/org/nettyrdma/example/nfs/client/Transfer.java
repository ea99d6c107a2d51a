package org.nettyrdma.example.nfs.client;

/** The size of READ and WRITE calls. */
final class Transfer {

    private Transfer() {
    }

    /** Returns the largest size in bytes that both sides take; {@code serverMaximum} is an unsigned 32-bit number. */
    static int bytes(long serverMaximum, CopyOptions options) {
        return (int) Math.max(1, Math.min(serverMaximum, options.maxTransferBytes()));
    }
}
