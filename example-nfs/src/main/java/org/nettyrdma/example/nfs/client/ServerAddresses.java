package org.nettyrdma.example.nfs.client;

import io.netty.util.NetUtil;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.nettyrdma.example.nfs.Transport;

/**
 * Where a server answers.
 *
 * @param server what it is called in messages: scheme, host and port
 * @param all addresses of its host, at least one
 */
record ServerAddresses(String server, List<InetSocketAddress> all) {

    private static final DefaultThreadFactory THREADS = new DefaultThreadFactory("nfs-lookup", true);

    /**
     * Finds the addresses of a name, of both versions of IP, or the one of an address literal. {@code localhost} is both
     * loopback addresses (RFC 6761, section 6.3), whatever the machine's table of hosts says.
     *
     * @throws NfsConnectException if there is none, or name servers do not answer in time
     * @throws InterruptedIOException if the thread was interrupted; the interrupt is kept
     */
    static ServerAddresses of(Transport transport, String host, int port, long timeoutMillis) throws IOException {
        String server = transport.scheme() + "://" + (host.indexOf(':') >= 0 ? '[' + host + ']' : host) + ':' + port;
        try {
            return new ServerAddresses(server, Arrays.stream(lookUp(host, timeoutMillis))
                    .map(address -> new InetSocketAddress(address, port)).toList());
        } catch (UnknownHostException e) {
            throw NfsConnectException.of(server, "unknown host", e);
        } catch (TimeoutException e) {
            throw NfsConnectException.of(server, "its address is not found in time", e);
        }
    }

    private static InetAddress[] lookUp(String host, long timeoutMillis) throws IOException, TimeoutException {
        if (host.equalsIgnoreCase("localhost")) {
            return new InetAddress[] {NetUtil.LOCALHOST4, NetUtil.LOCALHOST6};
        }
        // Java waits for name servers as long as they take, and cannot be interrupted in that.
        FutureTask<InetAddress[]> lookup = new FutureTask<>(() -> InetAddress.getAllByName(host));
        THREADS.newThread(lookup).start();
        try {
            return lookup.get(timeoutMillis, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            throw Await.interrupted(e);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof UnknownHostException unknown) {
                throw unknown;
            }
            throw new IllegalStateException(e.getCause());
        }
    }
}
