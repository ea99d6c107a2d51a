package org.nettyrdma.verbs.disni;

import io.netty.util.internal.PlatformDependent;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.nettyrdma.verbs.support.Closing;

/**
 * The completion queues of one event loop, on one completion channel. Room for everything that a queue pair can have outstanding
 * is reserved when it is created, because a completion queue that overflows is lost for all who use it; another queue is added
 * when there is none left. Most loops have one.
 */
final class CompletionQueues implements AutoCloseable {

    private static final int SMALLEST = 8192;
    private static final int COMPLETIONS_PER_CALL = 64;

    /** One queue. */
    static final class Queue {

        private final long handle;
        private final int capacity;
        private int reserved;

        private Queue(long handle, int capacity) {
            this.handle = handle;
            this.capacity = capacity;
        }

        long handle() {
            return handle;
        }

        void release(int entries) {
            reserved -= entries;
        }
    }

    /** Takes up one completion. */
    interface Consumer {

        /**
         * The values lie in {@code completions} from {@code index}, as {@link NativeExtensions} says. What this throws is a
         * matter of one connection, which must end soon, but not within this call; the other completions are taken up all the
         * same.
         */
        void completed(ByteBuffer completions, int index);
    }

    private final NativeVerbs verbs;
    private final Device device;
    private final Consumer consumer;
    private final ByteBuffer completions = NativeVerbs.newMemory(COMPLETIONS_PER_CALL * NativeExtensions.COMPLETION_BYTES);
    private final List<Queue> queues = new ArrayList<>();
    private final long channel;
    private Throwable failure; // of the consumer, not yet thrown on

    CompletionQueues(NativeVerbs verbs, Device device, Consumer consumer) throws IOException {
        this.verbs = verbs;
        this.device = device;
        this.consumer = consumer;
        channel = verbs.createCompletionChannel(device.context());
        try {
            addQueue(verbs.tellsCompletionQueuesApart() ? SMALLEST : Integer.MAX_VALUE);
        } catch (Throwable t) {
            verbs.destroyCompletionChannel(channel);
            throw t;
        }
    }

    private Queue addQueue(int wanted) throws IOException {
        int capacity = Math.min(wanted, device.limits().maxCompletions());
        Queue queue = new Queue(verbs.createCompletionQueue(device.context(), channel, capacity), capacity);
        queues.add(queue);
        return queue;
    }

    /** Finds a queue with room for so many completions, and reserves it. */
    Queue reserve(int entries) throws IOException {
        Queue found = null;
        int total = 0;
        for (Queue queue : queues) {
            total += queue.capacity;
            if (queue.reserved + entries <= queue.capacity) {
                found = queue;
            }
        }
        if (found == null) {
            if (!verbs.tellsCompletionQueuesApart()) {
                throw new IOException("the completion queue of this event loop has room for " + total
                        + " work requests only, with "
                        + "upstream's native library: use more event loops, or smaller queues");
            }
            int limit = device.limits().maxCompletions();
            if (entries > limit) {
                throw new IOException("the device's completion queues take " + limit + " entries, wanted " + entries);
            }
            found = addQueue(Math.max(entries, total)); // so that the number of queues grows slowly
        }
        found.reserved += entries;
        return found;
    }

    /** Takes up what has completed on all queues; returns how much that was. Throws then what the consumer has thrown first. */
    int poll() throws IOException {
        int count = 0;
        for (int i = 0; i < queues.size(); i++) {
            count += poll(queues.get(i));
        }
        if (failure != null) {
            Throwable thrown = failure;
            failure = null;
            PlatformDependent.throwException(thrown);
        }
        return count;
    }

    /** Takes up all that has completed on one queue, for the end of one connection; {@link #poll()} throws what goes wrong. */
    void drain(Queue queue) throws IOException {
        for (int left = queue.capacity; left > 0; left -= COMPLETIONS_PER_CALL) {
            if (poll(queue) < COMPLETIONS_PER_CALL) {
                return;
            }
        }
    }

    private int poll(Queue queue) throws IOException {
        int count = verbs.poll(queue.handle, completions, COMPLETIONS_PER_CALL);
        for (int i = 0; i < count; i++) {
            try {
                consumer.completed(completions, i * NativeExtensions.COMPLETION_BYTES);
            } catch (Throwable t) { // the device has forgotten the others, and they belong to other connections
                if (failure == null) {
                    failure = t;
                }
            }
        }
        return count;
    }

    /** Asks for an event when the next completion arrives. Completions may have arrived before that: poll again. */
    void arm() throws IOException {
        for (Queue queue : queues) {
            verbs.requestNotification(queue.handle);
        }
    }

    /** Takes the events that have come. */
    void drainEvents() throws IOException {
        verbs.drainCompletionEvents(channel, queues.get(0).handle);
    }

    long channel() {
        return channel;
    }

    long firstQueue() {
        return queues.get(0).handle;
    }

    @Override
    public void close() {
        Closing closing = new Closing();
        closing.all(queues, queue -> verbs.destroyCompletionQueue(queue.handle));
        closing.step(channel, verbs::destroyCompletionChannel);
        closing.end();
    }
}
