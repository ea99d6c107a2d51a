package org.nettyrdma.verbs.shm;

import java.io.IOException;
import java.net.SocketAddress;
import java.util.HashSet;
import java.util.Set;
import org.nettyrdma.verbs.Capabilities;
import org.nettyrdma.verbs.CompletionHandler;
import org.nettyrdma.verbs.ConnectionListener;
import org.nettyrdma.verbs.ConnectionRequest;
import org.nettyrdma.verbs.ListenAttributes;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.QueuePairAttributes;
import org.nettyrdma.verbs.SharedReceiveQueue;
import org.nettyrdma.verbs.VerbsContext;
import org.nettyrdma.verbs.support.Closing;
import org.nettyrdma.verbs.support.LoopCore;

/**
 * Connections of both kinds on one event loop. Both contexts stand on the same sockets, timers and deliveries; that for shared
 * memory, which has to look at memory besides, polls and sleeps for both.
 */
final class SameHostContext implements VerbsContext {

    private final Capabilities capabilities;
    private final ReplayedTags tags;
    private final VerbsContext iwarp;
    private final ShmContext shm;
    private final Set<SameHostQueuePair> queuePairs = new HashSet<>();
    private final Set<SameHostListener> listeners = new HashSet<>();

    SameHostContext(SameHostProvider provider) throws IOException {
        capabilities = provider.capabilities();
        tags = new ReplayedTags();
        LoopCore core = new LoopCore(System::nanoTime, tags);
        shm = provider.shm().openContext(core, true);
        iwarp = provider.iwarp().openContext(core);
    }

    Capabilities capabilities() {
        return capabilities;
    }

    ReplayedTags tags() {
        return tags;
    }

    VerbsContext iwarp() {
        return iwarp;
    }

    ShmContext shm() {
        return shm;
    }

    ProcessDirectory directory() {
        return shm.parts().directory();
    }

    @Override
    public QueuePair createQueuePair(QueuePairAttributes attributes, QueuePair.Listener listener) {
        return Closing.keep(queuePairs, new SameHostQueuePair(this, attributes, listener));
    }

    @Override
    public QueuePair createQueuePair(QueuePairAttributes attributes, QueuePair.Listener listener, ConnectionRequest request)
            throws IOException {
        return (request instanceof ShmConnectionRequest ? shm : iwarp).createQueuePair(attributes, listener, request);
    }

    /** Connections of both kinds can use it, as they stand on one core. */
    @Override
    public SharedReceiveQueue createSharedReceiveQueue(int depth) {
        return shm.createSharedReceiveQueue(depth);
    }

    @Override
    public ConnectionListener listen(SocketAddress address, int backlog, ListenAttributes attributes,
                                     ConnectionListener.Handler listener) throws IOException {
        if (ShmAddresses.isPath(address)) {
            return shm.listen(address, backlog, attributes, listener);
        }
        return Closing.keep(listeners, new SameHostListener(this, address, backlog, attributes, listener));
    }

    @Override
    public int poll(CompletionHandler handler, int maxCompletions) throws IOException {
        return shm.poll(handler, maxCompletions);
    }

    @Override
    public void await(long timeoutNanos) throws IOException {
        shm.await(timeoutNanos);
    }

    @Override
    public boolean canAwaitUnpolled() {
        return shm.canAwaitUnpolled();
    }

    @Override
    public void wakeup() {
        shm.wakeup();
    }

    @Override
    public boolean isDrained() {
        return iwarp.isDrained();
    }

    @Override
    public void close() {
        Closing closing = new Closing();
        closing.all(listeners, SameHostListener::close);
        closing.all(queuePairs, SameHostQueuePair::close); // they use shared receives besides what they chose
        closing.step(shm, ShmContext::close); // and what stands on the same sockets
        closing.end();
    }

    /** A queue pair is closed. */
    void closed(SameHostQueuePair queuePair) {
        queuePairs.remove(queuePair);
    }

    /** A listener is closed. */
    void closed(SameHostListener listener) {
        listeners.remove(listener);
    }
}
