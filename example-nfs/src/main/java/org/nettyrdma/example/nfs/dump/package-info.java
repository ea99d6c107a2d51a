/**
 * Readable text of RPC-over-RDMA messages, from their bytes or from a capture of iWARP over TCP.
 */
package org.nettyrdma.example.nfs.dump;
