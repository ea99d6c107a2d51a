package org.nettyrdma.verbs;

import java.net.SocketAddress;

/** A listening endpoint. Used by its event loop only. */
public interface ConnectionListener extends AutoCloseable {

    /**
     * The address that is listened on, with the port that the system chose.
     *
     * @return the bound address
     */
    SocketAddress localAddress();

    /**
     * Sets whether requests are taken up. While they are not, they wait in the backlog. Those that were taken up before may still
     * be delivered. Does nothing after the close.
     *
     * @param accepting {@code true} to take requests up; a new listener does not
     */
    void setAccepting(boolean accepting);

    /**
     * Stops listening; does nothing if that was done. The address may be in use until the next {@link VerbsContext#poll}.
     * Requests that were delivered stay valid. Requests that were not delivered are rejected.
     */
    @Override
    void close();

    /** Told, on the event loop, what happens at a listening endpoint. */
    interface Handler {

        /**
         * A peer asks for a connection. The handler must, now or later, pass {@code request} to
         * {@link VerbsContext#createQueuePair(QueuePairAttributes, QueuePair.Listener, ConnectionRequest)} or reject it.
         *
         * @param request the peer's request
         */
        void connectionRequested(ConnectionRequest request);

        /**
         * Taking up a connection failed; the endpoint goes on listening. A peer whose request is malformed or late is not
         * reported here: the provider drops and counts it.
         *
         * @param cause what failed, for example too many open files
         */
        void acceptFailed(Throwable cause);
    }
}
