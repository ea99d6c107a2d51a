package org.nettyrdma.codec.oncrpc;

/**
 * Whether a call may be made again on another connection when the one that it was given to is lost. A server that answers a
 * call and then loses the connection has carried the call out, and its client cannot tell. When the call is made again, under
 * the same XID, a server with a cache of replies recognises it; another one carries it out again.
 */
public enum Retransmission {

    /** As often as it takes. For calls that are idempotent, and for servers that recognise a call that is made again. */
    ALWAYS,

    /** Only if no server can have seen any of it. Such a call is carried out at most once. */
    ONLY_IF_NOT_SENT,

    /** Not at all: the call fails with the connection that it was given to. Before there is one, it waits like others. */
    NEVER
}
