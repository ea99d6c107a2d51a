package org.nettyrdma.example.nfs.server;

import java.io.IOException;

/** One NFS procedure: reads all of its arguments, then acts, then writes its results. Thread safe. */
@FunctionalInterface
interface Procedure {

    /**
     * Executes a call.
     *
     * @throws IOException if it fails; the caller answers the status that {@link NfsErrors} finds for it, and the slots
     *                     that the call opened
     * @throws org.nettyrdma.codec.oncrpc.XdrException if the arguments are not well-formed; nothing was done
     */
    void call(NfsCall call) throws IOException;
}
