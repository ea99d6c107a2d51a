package org.nettyrdma.codec.oncrpc;

import static io.netty.util.internal.ObjectUtil.checkPositive;

import java.util.Objects;
import java.util.concurrent.Executor;

/**
 * An executor for the programs of servers that runs so many calls of one address at once and no more, however slow they are, so
 * that others find a thread. All handlers that are to share the bound get the same object, over RDMA and TCP. Thread safe.
 *
 * <p>With one less than there are threads, a single address can hold all threads but one, and two addresses together can hold
 * them all; with a smaller number it takes more of them. Peers behind one address share its bound: what it leaves to others
 * stays idle while there are none, so that a server whose peers all have one address needs a thread more for the same work.
 *
 * <p>A call beyond the bound waits without a task. The thread on which a call has ended runs one of those that wait so, before it
 * goes back to the executor. So the threads should not be those that bring the calls, as with {@link
 * java.util.concurrent.ThreadPoolExecutor.CallerRunsPolicy}.
 */
public final class CallExecutor implements Executor {

    private final Executor threads;
    private final int maxCallsPerAddress;

    /**
     * Creates an executor.
     *
     * @param threads            run the calls; this never shuts them down
     * @param maxCallsPerAddress how many calls of one address run at once, more than 0. Of IPv6 addresses, the first 64 bits
     *                           count
     * @throws IllegalArgumentException if the number is not positive
     */
    public CallExecutor(Executor threads, int maxCallsPerAddress) {
        this.threads = Objects.requireNonNull(threads, "threads");
        this.maxCallsPerAddress = checkPositive(maxCallsPerAddress, "maxCallsPerAddress");
    }

    @Override
    public void execute(Runnable task) {
        threads.execute(task);
    }

    int maxCallsPerAddress() {
        return maxCallsPerAddress;
    }
}
