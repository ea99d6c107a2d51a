/**
 * An NFS version 3 server over RDMA and TCP. Enter through {@link org.nettyrdma.example.nfs.NfsServer}, which any thread may
 * start and close; {@link org.nettyrdma.example.nfs.Transport} holds all that differs between the two.
 */
package org.nettyrdma.example.nfs;
