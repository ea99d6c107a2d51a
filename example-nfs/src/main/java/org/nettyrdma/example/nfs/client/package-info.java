/**
 * An NFS version 3 client, the same over RDMA and TCP. Enter through {@link org.nettyrdma.example.nfs.client.NfsSession},
 * which connects and mounts; {@link org.nettyrdma.example.nfs.client.NfsClient} has the procedures,
 * {@link org.nettyrdma.example.nfs.client.RemoteFiles} files by path, and
 * {@link org.nettyrdma.example.nfs.client.TreeCopy} copies whole trees.
 *
 * <p>What returns a {@link java.util.concurrent.CompletableFuture} never blocks, and completes it on the connection's event
 * loop. Everything else waits for the server and must not be called there.
 */
package org.nettyrdma.example.nfs.client;
