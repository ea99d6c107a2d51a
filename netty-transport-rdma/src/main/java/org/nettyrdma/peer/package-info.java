/**
 * What all layers need to know about peers, over whatever transport: where they are, as limits see it
 * ({@link org.nettyrdma.peer.PeerAddress}), and the log of what they have caused ({@link org.nettyrdma.peer.PeerLog}). Needs
 * nothing of RDMA. Any thread. The package is exported to the modules of this project only.
 */
package org.nettyrdma.peer;
