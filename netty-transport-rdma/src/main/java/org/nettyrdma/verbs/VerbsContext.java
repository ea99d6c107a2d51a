package org.nettyrdma.verbs;

import java.io.IOException;
import java.net.SocketAddress;

/**
 * A provider as one event loop sees it: a completion queue, connection events, and a way to sleep until there is a completion or
 * an event. Every method except {@link #wakeup()} is called by the thread of the loop only; a provider need not check that.
 *
 * <p>The loop calls {@link #poll} again and again. When that returns 0 it may call {@link #await}, which arms the notifications,
 * polls the device once more, and only then sleeps. So it does not sleep while an event that came in between waits.
 */
public interface VerbsContext extends AutoCloseable {

    /**
     * Creates a queue pair that will ask a listener for a connection. Nothing is sent yet.
     *
     * @param attributes queue depths and limits
     * @param listener   told of the life of the connection
     * @return the queue pair, ready for {@link QueuePair#postReceive}
     * @throws IOException if the device or the system refuses
     * @throws IllegalStateException if the shared receives are closed
     */
    QueuePair createQueuePair(QueuePairAttributes attributes, QueuePair.Listener listener) throws IOException;

    /**
     * Creates a queue pair for a connection that a peer asked for, possibly through another context of the same provider. From
     * now on the request belongs to the new queue pair, also when this method fails, unless it is of another provider. The peer
     * is rejected when this fails, and when the queue pair ends without {@link QueuePair#accept}.
     *
     * @param attributes queue depths and limits
     * @param listener   told of the life of the connection
     * @param request    the peer's request
     * @return the queue pair, ready for {@link QueuePair#postReceive}; {@link QueuePair#accept} answers the peer
     * @throws IOException if the device or the system refuses, the peer has gone, or the request was answered before
     * @throws IllegalArgumentException if the request is of another provider
     * @throws IllegalStateException if the shared receives are closed
     */
    QueuePair createQueuePair(QueuePairAttributes attributes, QueuePair.Listener listener, ConnectionRequest request)
            throws IOException;

    /**
     * Creates a queue of receives that queue pairs of this context can share.
     *
     * @param depth receives that can be posted at once, 1 to {@link Capabilities#maxSharedReceives()}
     * @return the queue, without receives
     * @throws IllegalArgumentException if the depth is out of range
     * @throws IOException if the device or the system refuses, or this provider has no such queues
     */
    default SharedReceiveQueue createSharedReceiveQueue(int depth) throws IOException {
        throw new IOException("this provider has no shared receive queues");
    }

    /**
     * Starts to listen for connection requests.
     *
     * @param address    where to listen; port 0 lets the system choose
     * @param backlog    about how many requests may wait, at least 1
     * @param attributes what applies to a request before a queue pair exists for it
     * @param listener   told of every valid request, from {@link #poll}
     * @return the listening endpoint
     * @throws IOException if the address cannot be used, for example because it is in use, or was not resolved
     * @throws IllegalArgumentException if the provider has no addresses of this kind; it may throw an {@code IOException} instead
     */
    ConnectionListener listen(SocketAddress address, int backlog, ListenAttributes attributes,
                              ConnectionListener.Handler listener) throws IOException;

    /**
     * Makes progress and delivers what has happened: completions to {@code handler}, connection events to the listeners of their
     * queue pairs. A completion of a work request that ended before its connection is delivered before the end of the connection.
     *
     * <p>The handler and the listeners may call any method of this context and of what was created from it, but neither this
     * method, {@link #await} nor {@link #close()}. An exception they throw leaves this method; the event that it came from is
     * delivered, and those behind it stay for the next call.
     *
     * @param handler        receives the completions
     * @param maxCompletions most completions to deliver, at least 1
     * @return how many completions and connection events were delivered, or the amount of other progress made; 0 if there
     *         was nothing to do
     * @throws IOException if the context as a whole is broken
     */
    int poll(CompletionHandler handler, int maxCompletions) throws IOException;

    /**
     * Sleeps until {@link #poll} may have something to deliver, {@link #wakeup()} is called, or the time is over. A wake-up
     * that came before the call counts: it returns at once.
     *
     * @param timeoutNanos longest time to sleep in nanoseconds; negative for no limit
     * @throws IOException if the context as a whole is broken
     */
    void await(long timeoutNanos) throws IOException;

    /**
     * Whether {@link #poll} has nothing to do as far as is known, and {@link #await} costs no more where something has come
     * since. Then who has nothing left to do awaits at once, without a poll that would find nothing.
     *
     * @return {@code true} if so
     */
    default boolean canAwaitUnpolled() {
        return false;
    }

    /**
     * Ends the current or the next {@link #await}. Any thread.
     */
    void wakeup();

    /**
     * Whether peers have taken what connections that are closed have handed over, as far as that can be seen. An event loop that
     * ends goes on polling until it is so or the time for its end is over, and closes the context then. A provider for which a
     * completed Send has arrived, as on a device, has nothing to wait for. Others bound the time by {@link
     * QueuePairAttributes#closeTimeoutMillis}.
     *
     * @return {@code false} while something could be lost if the context were closed now
     */
    default boolean isDrained() {
        return true;
    }

    /**
     * Closes the context with all that was created from it, listeners included; does nothing if it is closed. No handler and no
     * listener is told anything any more, and work requests that are still outstanding are not completed. From now on only
     * {@link #wakeup()} and this method may be called, and the {@code close} methods of what was created from it. After this call
     * the device accesses neither their memory nor exposed memory, except where {@link QueuePair#mayUsePosted()} and
     * {@link QueuePair#mayUseExposed} say so of a queue pair.
     */
    @Override
    void close();
}
