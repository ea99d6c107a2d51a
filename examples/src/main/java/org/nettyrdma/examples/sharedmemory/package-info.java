/**
 * Two processes of one host, by shared memory.
 *
 * <p>{@code examples/run sharedmemory server /tmp/example.sock} serves until Ctrl-D. In another terminal,
 * {@code examples/run sharedmemory client /tmp/example.sock} asks the server for the number of its process.
 *
 * <p>The event loop group names the provider {@code shm}; with the system property {@code org.nettyrdma.provider=shm} the short
 * constructors take it, too. The address is the path of a socket, or an IP address of the host. Both processes have to be of the
 * same user. Nothing else is different from the other examples. Linux only.
 */
package org.nettyrdma.examples.sharedmemory;
