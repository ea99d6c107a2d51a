package org.nettyrdma.verbs.iwarp;

import java.io.IOException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayDeque;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The sockets of a context, on one selector, and which of them are ready.
 *
 * <p>A selection finds any number of ready sockets, but only some make progress in a round; what they have received is passed on
 * and answered before the next ones follow. So all steps of one connection are close together in time, and find its state in the
 * processor's cache, however many connections there are.
 */
final class ReadySockets {

    private static final Logger LOGGER = LoggerFactory.getLogger(ReadySockets.class);

    /**
     * Few enough that the state of as many connections fits into a processor's own cache, and enough to share a loop's fixed
     * costs.
     */
    private static final int MAX_SOCKETS_PER_ROUND = 4;

    private final Selector selector;
    /** What the last selection has found and had no turn yet. */
    private final ArrayDeque<SelectionKey> ready = new ArrayDeque<>();
    private final Consumer<SelectionKey> found = ready::add;
    /** What to do when the selector has let go of cancelled keys. */
    private final ArrayDeque<Runnable> afterSelection = new ArrayDeque<>();

    ReadySockets() throws IOException {
        selector = Selector.open();
    }

    SelectionKey register(SelectableChannel channel, int operations, SocketHandler handler) throws IOException {
        channel.configureBlocking(false);
        return channel.register(selector, operations, handler);
    }

    /**
     * Takes a socket off the selector, which lets go of a cancelled key in its next selection; only then can another selector
     * have the socket.
     *
     * @param then what to do when that has happened
     */
    void deregister(SelectionKey key, Runnable then) {
        key.cancel();
        afterSelection.add(then);
    }

    /**
     * Lets some of the ready sockets make progress; looks for others when all that were ready have had their turn.
     *
     * @return the amount of progress made, 0 if no socket was ready
     */
    int progress() throws IOException {
        int work = ready.isEmpty() ? select() : 0;
        for (int i = 0; i < MAX_SOCKETS_PER_ROUND && !ready.isEmpty(); i++) {
            ready(ready.remove());
            work++;
        }
        return work;
    }

    private int select() throws IOException {
        int tasks = afterSelection.size(); // what these add needs another selection
        selector.selectNow(found);
        for (int i = 0; i < tasks; i++) {
            afterSelection.remove().run();
        }
        return tasks;
    }

    /**
     * Sleeps until a socket is ready or {@link #wakeup} is called; not at all while there is something to do.
     *
     * @param limitMillis longest time to sleep, 0 for no limit
     */
    void await(long limitMillis) throws IOException {
        if (ready.isEmpty() && afterSelection.isEmpty()) {
            selector.select(found, limitMillis);
            if (Thread.interrupted()) { // with the flag set no selection would ever sleep
                LOGGER.debug("An interrupt of the event loop is ignored: it ends by shutdownGracefully()");
            }
        }
    }

    /** Ends the current or the next {@link #await}. Any thread. */
    void wakeup() {
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

    boolean isOpen() {
        return selector.isOpen();
    }

    /** Closes all sockets. */
    void close() {
        for (SelectionKey key : selector.keys()) {
            SocketFailures.closeQuietly(key.channel());
        }
        SocketFailures.closeQuietly(selector);
    }
}
