package org.nettyrdma.testkit;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.nettyrdma.verbs.CompletionHandler;
import org.nettyrdma.verbs.ConnectionParameters;
import org.nettyrdma.verbs.MemoryRegion;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.SendWorkRequest;
import org.nettyrdma.verbs.VerbsContext;
import org.nettyrdma.verbs.VerbsProvider;
import org.nettyrdma.verbs.WorkCompletionStatus;

/** One end of a connection under test: a context with one queue pair, and what was heard from them. */
final class VerbsSide implements QueuePair.Listener, CompletionHandler, AutoCloseable {

    static final int MEMORY_BYTES = 1 << 20;

    /** What a test does inside of a call. */
    interface Action {
        void run() throws IOException;
    }

    /** What a completion said. */
    record Completion(long id, WorkCompletionStatus status, int byteLength, boolean invalidated, int invalidatedTag,
                      int vendorError) {
    }

    /** What immediate data came with. */
    record Immediate(long id, int byteLength, int data) {
    }

    private final VerbsProvider provider;
    final VerbsContext context;
    final MemoryRegion region;
    final ByteBuffer memory;
    final Deque<Completion> completions = new ArrayDeque<>();
    final Deque<Immediate> immediates = new ArrayDeque<>();
    private final Map<Integer, Deque<Completion>> sharedCompletions = new HashMap<>();
    final List<String> events = new ArrayList<>();
    QueuePair queuePair;
    ConnectionParameters parameters;
    IOException cause;
    byte[] rejection;
    /** What to do when the end is told. */
    Action onEnd = () -> { };
    private final SendWorkRequest work = new SendWorkRequest(4);

    VerbsSide(VerbsProvider provider) throws IOException {
        this.provider = provider;
        context = provider.openContext();
        memory = provider.allocate(MEMORY_BYTES);
        region = provider.registerMemory(memory);
    }

    @Override
    public void established(ConnectionParameters agreed) {
        events.add("established");
        parameters = agreed;
    }

    @Override
    public void connectFailed(IOException reason, ByteBuffer privateData) {
        events.add("connectFailed");
        cause = reason;
        rejection = bytes(privateData);
    }

    @Override
    public void disconnected(IOException reason) {
        events.add("disconnected");
        cause = reason;
        try {
            onEnd.run();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void onCompletion(long id, WorkCompletionStatus status, int byteLength, boolean invalidated, int invalidatedTag,
                             int vendorError) {
        completions.add(new Completion(id, status, byteLength, invalidated, invalidatedTag, vendorError));
    }

    @Override
    public void onImmediateData(long id, int byteLength, int immediateData) {
        immediates.add(new Immediate(id, byteLength, immediateData));
    }

    @Override
    public void onSharedReceive(int queuePairNumber, long id, WorkCompletionStatus status, int byteLength, boolean invalidated,
                                int invalidatedTag, int vendorError) {
        sharedCompletions(queuePairNumber).add(
                new Completion(id, status, byteLength, invalidated, invalidatedTag, vendorError));
    }

    /** Completions of shared receives for one queue pair. */
    Deque<Completion> sharedCompletions(int queuePairNumber) {
        return sharedCompletions.computeIfAbsent(queuePairNumber, any -> new ArrayDeque<>());
    }

    /** Forgets what was heard, before another connection. */
    void clear() {
        events.clear();
        completions.clear();
        cause = null;
    }

    int poll() throws IOException {
        return context.poll(this, 64);
    }

    boolean isEstablished() {
        return events.contains("established");
    }

    boolean isDisconnected() {
        return events.contains("disconnected");
    }

    /** A buffer of a kilobyte, by its number, for one message. */
    void postReceive(int number) throws IOException {
        queuePair.postReceive(number, region, number * 1024, 1024);
    }

    SendWorkRequest work() {
        return work;
    }

    void post(SendWorkRequest request) throws IOException {
        queuePair.postSend(request);
        queuePair.flush();
    }

    void put(int offset, String text) {
        memory.put(offset, text.getBytes());
    }

    String get(int offset, int length) {
        byte[] bytes = new byte[length];
        memory.get(offset, bytes);
        return new String(bytes);
    }

    static byte[] bytes(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        return bytes;
    }

    @Override
    public void close() {
        context.close();
        region.close();
        provider.free(memory);
    }
}
