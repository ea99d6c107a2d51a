package org.nettyrdma.verbs.support;

import java.io.IOException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The sockets of a context, on one selector, and which of them are ready.
 *
 * <p>A selection finds any number of ready sockets, but only some make progress in a round; what they have received is passed on
 * and answered before the next ones follow. So all steps of one connection are close together in time, and find its state in the
 * processor's cache, however many connections there are. Used by one event loop only, but for {@link #wakeup}
 * and {@link #atNextProgress}.
 */
public final class ReadySockets {

    private static final Logger LOGGER = LoggerFactory.getLogger(ReadySockets.class);

    /**
     * Few enough that the state of as many connections fits into a processor's own cache, and enough to share a loop's fixed
     * costs.
     */
    private static final int MAX_SOCKETS_PER_ROUND = 4;

    private final Selector selector;
    /** What the last selection has found and had no turn yet. */
    private final GrowingQueue<SelectionKey> ready = new GrowingQueue<>(16);
    private final Consumer<SelectionKey> found = ready::add;
    /** What to do when the selector has let go of cancelled keys. */
    private final GrowingQueue<Runnable> afterSelection = new GrowingQueue<>(4);
    /** What other threads ask for; looked at with a selection, next to whose system call that costs nothing. */
    private final Queue<Runnable> fromOthers = new ConcurrentLinkedQueue<>();

    /**
     * Opens the selector.
     *
     * @throws IOException if the system has no descriptor for it, or for a socket
     */
    public ReadySockets() throws IOException {
        SocketChannel.open().close(); // Java needs descriptors to close its first socket; without, it never closes any
        selector = Selector.open();
    }

    /**
     * Takes a socket up.
     *
     * @param channel    becomes non-blocking
     * @param operations which the handler is told of at first, as in {@link SelectionKey}
     * @param handler    is told when the socket is ready
     * @return by which the operations can be changed
     * @throws IOException if the socket is closed
     */
    public SelectionKey register(SelectableChannel channel, int operations, SocketHandler handler) throws IOException {
        channel.configureBlocking(false);
        return channel.register(selector, operations, handler);
    }

    /**
     * Takes a socket off the selector, which lets go of a cancelled key in its next selection; only then can another selector
     * have the socket.
     *
     * @param key  of the socket
     * @param then what to do when that has happened
     */
    public void deregister(SelectionKey key, Runnable then) {
        key.cancel();
        afterSelection.add(then);
    }

    /**
     * Lets go of sockets that are closed. Until then the system keeps them, and a listening one its address. What is ready is
     * left to {@link #progress}.
     */
    public void letGo() {
        if (!selector.isOpen()) {
            return;
        }
        try {
            selector.selectNow();
            selector.selectedKeys().clear();
        } catch (IOException e) { // the next selection tells whom it concerns
            LOGGER.debug("Letting go of closed sockets failed: {}", e.toString());
        }
    }

    /**
     * Whether {@link #progress} has something to do without looking for ready sockets.
     *
     * @return {@code true} if so
     */
    public boolean hasWork() {
        return !ready.isEmpty() || !afterSelection.isEmpty() || !fromOthers.isEmpty();
    }

    /**
     * Lets some of the ready sockets make progress; looks for others when all that were ready have had their turn.
     *
     * @return the amount of progress made, 0 if no socket was ready
     * @throws IOException if the selector fails
     */
    public int progress() throws IOException {
        for (Runnable task = fromOthers.poll(); task != null; task = fromOthers.poll()) {
            task.run(); // also where sockets are always ready: who gave it has woken this loop once
        }
        int work = ready.isEmpty() ? select() : 0;
        for (int i = 0; i < MAX_SOCKETS_PER_ROUND && !ready.isEmpty(); i++) {
            ready(ready.poll());
            work++;
        }
        return work;
    }

    /**
     * Has something done by the next {@link #progress}. Any thread; {@link #wakeup} has to follow.
     *
     * @param task what to do
     */
    public void atNextProgress(Runnable task) {
        fromOthers.add(task);
    }

    private int select() throws IOException {
        int tasks = afterSelection.size(); // what these add needs another selection
        selector.selectNow(found);
        for (int i = 0; i < tasks; i++) {
            afterSelection.poll().run();
        }
        return tasks;
    }

    /**
     * Sleeps until a socket is ready or {@link #wakeup} is called; not at all while there is something to do.
     *
     * @param limitMillis longest time to sleep, 0 for no limit
     * @throws IOException if the selector fails
     */
    public void await(long limitMillis) throws IOException {
        if (!hasWork()) {
            selector.select(found, limitMillis);
            if (Thread.interrupted()) { // with the flag set no selection would ever sleep
                LOGGER.debug("An interrupt of the event loop is ignored: it ends by shutdownGracefully()");
            }
        }
    }

    /**
     * Ends the current or the next {@link #await}. Any thread.
     */
    public void wakeup() {
        selector.wakeup();
    }

    private static void ready(SelectionKey key) {
        if (!key.isValid()) {
            return; // closed since the selection
        }
        SocketHandler handler = (SocketHandler) key.attachment();
        int operations = key.readyOps() & key.interestOps(); // the interest may be gone since the selection
        try {
            if (operations != 0) {
                handler.ready(operations);
            }
        } catch (Throwable t) {
            SocketFailures.fail(handler, t);
        }
    }

    /**
     * Whether {@link #close} was not called.
     *
     * @return {@code true} if so
     */
    public boolean isOpen() {
        return selector.isOpen();
    }

    /** Closes all sockets. */
    public void close() {
        Closing closing = new Closing();
        for (SelectionKey key : selector.keys()) {
            closing.step(key.channel(), SocketFailures::closeQuietly);
        }
        closing.step(selector, SocketFailures::closeQuietly);
        closing.end();
    }
}
