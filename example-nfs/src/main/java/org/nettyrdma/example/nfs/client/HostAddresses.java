package org.nettyrdma.example.nfs.client;

import io.netty.util.NetUtil;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The addresses of a host. */
final class HostAddresses {

    private static final DefaultThreadFactory THREADS = new DefaultThreadFactory("nfs-lookup", true);

    private HostAddresses() {
    }

    /**
     * Finds the addresses of a name, of both versions of IP, or the one of an address literal. {@code localhost} is both
     * loopback addresses (RFC 6761, section 6.3), whatever the machine's table of hosts says.
     *
     * @throws UnknownHostException if there is none
     * @throws TimeoutException if name servers do not answer in time
     * @throws InterruptedIOException if the thread was interrupted; the interrupt is kept
     */
    static InetAddress[] of(String host, long timeoutMillis) throws IOException, TimeoutException {
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
