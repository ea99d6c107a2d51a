package org.nettyrdma.verbs.disni;

import java.net.SocketAddress;

/** Who is responsible for a connection identifier: a queue pair, a listener, a request, or what is left of a connection. */
interface IdentifierOwner {

    /** The event loop that this owner lives on. */
    EventReceiver context();

    /** Whom events concern that are under way to this owner: another one, once the identifier was handed over. Any thread. */
    default IdentifierOwner current() {
        return this;
    }

    /** Something has happened. Runs on the owner's loop, while that polls. */
    void connectionEvent(ConnectionEvent event);

    /** A peer asks for a connection by a new identifier; only listeners are told. Any thread, with the manager locked. */
    default IdentifierOwner connectionRequested(long newId, ConnectionEvent event, SocketAddress local, SocketAddress remote) {
        return null;
    }
}
