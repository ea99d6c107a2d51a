package org.nettyrdma.verbs.disni;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.nettyrdma.verbs.support.Closing;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All connection identifiers of a device, on one event channel. Whichever loop finds an event hands it to the loop of the
 * identifier's owner, so that a request accepted on one loop can be served on another.
 *
 * <p>The lock makes taking an event and finding its owner one step: an identifier can be destroyed, and its number be given to
 * a new one, only before or after that. So no event ever reaches the wrong owner.
 */
final class ConnectionManager {

    private static final Logger LOGGER = LoggerFactory.getLogger(ConnectionManager.class);

    private final ReentrantLock lock = new ReentrantLock();
    private final Runnable removal;

    // Guarded by the lock.
    private final NativeVerbs verbs;
    private final ByteBuffer event = NativeVerbs.newMemory(NativeExtensions.EVENT_BYTES);
    private final Map<Long, IdentifierOwner> owners = new HashMap<>();
    private final long channel;
    /** Belongs to nobody, and hears of the removal of the device when there is no connection. */
    private final long watch;

    /**
     * Opens an event channel.
     *
     * @param verbs   used by this alone
     * @param address an address of the device
     * @param removal runs when the device is removed, possibly several times; on any loop, with the lock held
     */
    ConnectionManager(NativeVerbs verbs, InetAddress address, Runnable removal) throws IOException {
        this.verbs = verbs;
        this.removal = removal;
        channel = verbs.createEventChannel();
        long id = 0;
        try {
            id = verbs.createId(channel);
            verbs.bindAddress(id, new InetSocketAddress(address, 0));
        } catch (Throwable t) {
            if (id != 0) {
                verbs.destroyId(id);
            }
            verbs.destroyEventChannel(channel);
            throw t;
        }
        watch = id;
    }

    /** What a loop sleeps on to learn of events. */
    long channel() {
        return channel;
    }

    /** Creates an identifier. */
    long create(IdentifierOwner owner) throws IOException {
        lock.lock();
        try {
            long id = verbs.createId(channel);
            try {
                owners.put(id, owner);
            } catch (Throwable t) { // no memory for the note
                verbs.destroyId(id);
                throw t;
            }
            return id;
        } finally {
            lock.unlock();
        }
    }

    /** Sends the further events of an identifier to another owner. */
    void transfer(long id, IdentifierOwner owner) {
        lock.lock();
        try {
            owners.put(id, owner);
        } finally {
            lock.unlock();
        }
    }

    /** Destroys an identifier, whose queue pair must have been destroyed; a request not answered is rejected by that. */
    void destroy(long id) {
        lock.lock();
        try {
            owners.remove(id);
            verbs.destroyId(id);
        } finally {
            lock.unlock();
        }
    }

    /** Rejects a request and destroys its identifier. */
    void reject(long id, byte[] privateData) {
        lock.lock();
        try {
            verbs.reject(id, privateData);
        } catch (IOException e) {
            LOGGER.debug("A rejection is not sent", e); // the peer has gone
        } finally {
            lock.unlock();
            destroy(id);
        }
    }

    /** Takes what has happened and hands it out, unless another loop is just doing so. */
    int poll(EventReceiver caller) throws IOException {
        if (!lock.tryLock()) {
            return 0;
        }
        try {
            int count = 0;
            while (verbs.nextConnectionEvent(channel, event)) {
                dispatch(caller);
                count++;
            }
            return count;
        } finally {
            lock.unlock();
        }
    }

    private void dispatch(EventReceiver caller) {
        ConnectionEvent happened = ConnectionEvent.read(event);
        long id = event.getLong(NativeExtensions.EVENT_ID);
        if (happened.type() == ConnectionEventType.DEVICE_REMOVAL) {
            removal.run();
        }
        IdentifierOwner owner = happened.type() == ConnectionEventType.CONNECT_REQUEST ? newRequest(id, happened)
                : owners.get(id);
        if (owner == null) {
            LOGGER.debug("{} of an identifier that nobody owns", happened.describe());
            return;
        }
        owner.context().arrived(owner, happened, caller);
    }

    private IdentifierOwner newRequest(long id, ConnectionEvent happened) {
        IdentifierOwner listener = owners.get(event.getLong(NativeExtensions.EVENT_LISTEN_ID));
        IdentifierOwner request = null;
        try {
            request = listener == null ? null
                    : listener.connectionRequested(id, happened, verbs.localAddress(id), verbs.remoteAddress(id));
            if (request != null) {
                owners.put(id, request);
            }
        } catch (IOException e) {
            LOGGER.debug("A connection request is dropped", e);
        } catch (Throwable t) {
            owners.remove(id);
            verbs.destroyId(id);
            throw t;
        }
        if (request == null) {
            verbs.destroyId(id); // nobody listens any more: a rejection
        }
        return request;
    }

    /** Destroys everything. No loop polls any more; what is left are requests that nobody has answered. */
    void close() {
        Closing closing = new Closing();
        lock.lock();
        try {
            closing.all(owners.keySet(), verbs::destroyId);
            closing.step(watch, verbs::destroyId);
            closing.step(channel, verbs::destroyEventChannel);
        } finally {
            lock.unlock();
        }
        closing.end();
    }
}
