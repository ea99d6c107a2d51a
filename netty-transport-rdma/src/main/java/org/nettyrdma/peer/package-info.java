/**
 * What all layers need to know about peers, over whatever transport: where they are, as limits see it, and the log of what they
 * have caused. Needs nothing of RDMA. Any thread. The package is exported to the modules of this project only.
 */
package org.nettyrdma.peer;
