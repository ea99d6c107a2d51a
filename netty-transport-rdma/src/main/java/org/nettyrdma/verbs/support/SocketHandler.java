package org.nettyrdma.verbs.support;

import java.io.IOException;

/** What a context does with a socket that is ready; attached to the socket's selection key. */
public interface SocketHandler {

    /**
     * The socket is ready.
     *
     * @param readyOperations the operations, as in {@link java.nio.channels.SelectionKey}
     * @throws IOException if the socket can be used no more; then {@link #failed} is called
     */
    void ready(int readyOperations) throws IOException;

    /**
     * {@link #ready} has thrown; the handler closes its socket and whatever depends on it.
     *
     * @param cause what was thrown; for an error an exception that stands for it
     */
    void failed(Exception cause);
}
