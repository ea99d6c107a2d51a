package org.nettyrdma.example.nfs.server;

/** Which callers are served as the anonymous user and not as who they say they are. */
public enum Squash {
    /** User and group 0 only: nobody becomes the server's root over the network. */
    ROOT,
    /** Everybody. */
    ALL,
    /** Nobody: a client's root may do everything. Only for clients that are trusted as much as the server. */
    NONE
}
