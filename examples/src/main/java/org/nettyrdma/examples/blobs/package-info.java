/**
 * A program of your own whose bulk data travels in chunks.
 *
 * <p>{@code examples/run blobs FILE COPY} puts the bytes of FILE, of at most 1 MiB, into a server and gets them back as COPY. It
 * prints how many bytes the server has read from the client's memory and written to it.
 *
 * <p>The program is plain ONC RPC: it reads and writes XDR and knows nothing of RDMA. What makes the difference is its
 * {@link org.nettyrdma.codec.rpcrdma.UpperLayerBinding}, which both sides have. It finds the bulk data in calls and replies, and
 * says how large a reply can get. Without it the same program works, and its messages travel as long messages. What fits into
 * one Send goes inline, up to 64 KiB.
 */
package org.nettyrdma.examples.blobs;
