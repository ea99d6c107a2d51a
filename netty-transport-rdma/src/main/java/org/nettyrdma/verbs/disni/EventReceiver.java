package org.nettyrdma.verbs.disni;

/** An event loop, for those who find something that concerns another one. Any thread. */
interface EventReceiver {

    /** Hands an event to its owner's loop. Called by the loop that found it, possibly with the connection manager locked. */
    void arrived(IdentifierOwner owner, ConnectionEvent event, EventReceiver finder);

    /** Ends the sleep of the loop. */
    void wakeup();
}
