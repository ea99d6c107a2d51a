package org.nettyrdma.codec.oncrpc;

import static io.netty.util.internal.ObjectUtil.checkPositive;

import io.netty.channel.Channel;
import io.netty.util.ReferenceCountUtil;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedList;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Replies to calls that must not be executed twice. A client that lost its connection sends its calls again on the next one with
 * the same XIDs, whether or not they were executed. With this cache the server executes such a call once: the second one gets
 * the reply of the first, or waits for it. One cache may serve all programs of a server, over RDMA and TCP:
 * <pre>{@code
 * DuplicateRequestCache cache = new DuplicateRequestCache();
 * RpcRdma.server().program(cache.guard(program))
 * }</pre>
 *
 * <p><b>The same call</b> has the same XID, program, version, procedure, credential and arguments, and comes from the same
 * {@linkplain RpcProgram#clientOf client}. All of these are compared by a digest of 128 bits under a secret of this cache. Of
 * arguments longer than 4096 bytes it has the length and 2048 bytes at either end, as to digest all of the data of a write would
 * take longer than to write them. So a neighbour behind the same address, who does not know that much of the call, can neither
 * read its reply nor be in its place before it comes. The stamp of AUTH_SYS is left out, as it may change when a call is sent
 * again (RFC 5531, appendix A). Credentials that change otherwise, such as those of RPCSEC_GSS, make another call.
 *
 * <p><b>What is kept.</b> Every reply is kept, also one that refuses the call, and the SYSTEM_ERR of a program that has thrown:
 * it may have done a part of its work. {@linkplain RpcProgram#isIdempotent Idempotent} calls pass, and leave nothing here. Kept
 * are the bytes of the reply and where its {@linkplain DataItem bulk data} lies, and nothing of the connection: the transport
 * places them anew, by what the new call offers. A call whose reply alone exceeds the limit in bytes is answered with SYSTEM_ERR
 * when it is sent again, as it must not be executed.
 *
 * <p><b>Limits.</b> The replies are bounded in number, in bytes and in age. If there are too many, the client that has the most
 * of them loses its oldest. So no client can push out replies of others who have less than it has. Calls in execution count by
 * number, and are never pushed out. Where the client with the most has nothing but these and sends one more, the call is
 * answered with SYSTEM_ERR and not executed. At most {@value #MAX_JOINED} calls wait for one in execution. If one more comes, the
 * one that has waited longest is answered with SYSTEM_ERR, as its connection is the most likely to be dead. Replies that are too
 * old go when the next call comes. One that there is no memory to keep is forgotten at once. A restart of the server forgets
 * everything.
 *
 * <p>Thread safe. Calls are answered outside of the monitor.
 */
public final class DuplicateRequestCache {

    /** How many replies are kept unless another number is given. */
    public static final int DEFAULT_MAX_ENTRIES = 4096;

    /** How many bytes are kept unless another number is given. */
    public static final long DEFAULT_MAX_BYTES = 16 << 20;

    /** For how long replies are kept unless another time is given, in milliseconds: two minutes. */
    public static final long DEFAULT_MAX_AGE_MILLIS = 120_000;

    /** How many calls may wait for the reply of one in execution. */
    static final int MAX_JOINED = 8;

    private final int maxEntries;
    private final long maxBytes;
    private final long maxAgeNanos;
    private final LongSupplier nanoClock;
    private final CallDigest digest = new CallDigest();

    private final Map<CallDigest.Key, Entry> running = new HashMap<>();
    /** The oldest reply comes first. */
    private final Map<CallDigest.Key, Entry> replies = new LinkedHashMap<>();
    private final Map<Object, Client> clients = new HashMap<>();
    private final TreeSet<Client> byWeight;
    private long bytes;
    private long nextClient;
    private long executed;
    private long hits;
    private long joins;
    private long evictions;
    private long refusals;

    /** Creates a cache with the default limits. */
    public DuplicateRequestCache() {
        this(DEFAULT_MAX_ENTRIES, DEFAULT_MAX_BYTES, DEFAULT_MAX_AGE_MILLIS);
    }

    /**
     * Creates a cache.
     *
     * @param maxEntries   how many replies and calls in execution there may be; 1 or more. It should be more than the calls that
     *                     all clients together may have outstanding
     * @param maxBytes     how many bytes the replies may have together; 1 or more
     * @param maxAgeMillis for how long a reply is kept, in milliseconds; 1 or more. It should be more than clients take to come
     *                     back
     * @throws IllegalArgumentException if a limit is not positive
     */
    public DuplicateRequestCache(int maxEntries, long maxBytes, long maxAgeMillis) {
        this(maxEntries, maxBytes, maxAgeMillis, System::nanoTime);
    }

    DuplicateRequestCache(int maxEntries, long maxBytes, long maxAgeMillis, LongSupplier nanoClock) {
        this.maxEntries = checkPositive(maxEntries, "maxEntries");
        this.maxBytes = checkPositive(maxBytes, "maxBytes");
        this.maxAgeNanos = TimeUnit.MILLISECONDS.toNanos(checkPositive(maxAgeMillis, "maxAgeMillis"));
        this.nanoClock = nanoClock;
        byWeight = new TreeSet<>(Comparator.<Client>comparingDouble(this::weight).thenComparingLong(client -> client.number));
    }

    /**
     * Puts this cache in front of a program.
     *
     * @param program the program, which says what is {@linkplain RpcProgram#isIdempotent idempotent}
     * @return what to serve in its place
     */
    public RpcProgram guard(RpcProgram program) {
        return new GuardedProgram(this, Objects.requireNonNull(program, "program"));
    }

    /**
     * Counts what happened so far.
     *
     * @return a snapshot
     */
    public synchronized DuplicateRequestStatistics statistics() {
        return new DuplicateRequestStatistics(executed, hits, joins, evictions, refusals, running.size(), replies.size(), bytes);
    }

    /** Has the program execute a call, unless the cache knows it. The call is answered, or will be. */
    void serve(RpcProgram program, RpcCall call) throws Exception {
        Object client = program.clientOf(call);
        if (client == null) { // the connection has ended, and its client will send the call again
            call.tryRefuse(AcceptStatus.SYSTEM_ERR);
            return;
        }
        CallDigest.Key key = digest.of(client, call);
        Entry begun = null;
        KeptReply known = null;
        RpcCall refused = null;
        synchronized (this) {
            removeOld();
            Entry earlier = running.get(key);
            Entry finished = replies.get(key);
            if (finished != null) {
                hits++;
                known = finished.reply;
            } else if (earlier != null) {
                joins++;
                refused = earlier.join(call);
            } else {
                begun = begin(key, client);
                refused = begun == null ? call : null;
            }
            refusals += refused == null ? 0 : 1;
        }
        if (refused != null) {
            refused.tryRefuse(AcceptStatus.SYSTEM_ERR);
        }
        if (known != null) {
            known.answer(call);
        } else if (begun != null) {
            execute(program, call, begun);
        }
    }

    private void execute(RpcProgram program, RpcCall call, Entry entry) throws Exception {
        RpcCall recorded = call.withOwner(new Recorder(call, entry));
        try {
            program.call(recorded);
        } catch (Throwable t) {
            recorded.tryRefuse(t instanceof XdrException ? AcceptStatus.GARBAGE_ARGS : AcceptStatus.SYSTEM_ERR);
            throw t;
        }
    }

    /** {@code null} if there is no room for one more. */
    private Entry begin(CallDigest.Key key, Object caller) {
        Client client = clients.get(caller);
        while (running.size() + replies.size() >= maxEntries) {
            if (!evict(client)) {
                return null;
            }
            client = clients.get(caller); // its last entry may have been evicted
        }
        executed++;
        if (client == null) {
            client = new Client(caller, nextClient++);
            clients.put(caller, client);
        }
        Entry entry = new Entry(key, client);
        weigh(client, 1, 0);
        running.put(key, entry);
        return entry;
    }

    /** Keeps a reply; nobody joins its call any more. Where there is no memory for that, it is forgotten early. */
    private synchronized void finish(Entry entry, KeptReply reply) {
        running.remove(entry.key);
        entry.reply = reply;
        entry.finishedNanos = nanoClock.getAsLong();
        entry.client.keep(entry);
        weigh(entry.client, 0, reply.bytes());
        replies.put(entry.key, entry);
        while (bytes > maxBytes && evict(null)) {
            // one client after the other loses its oldest
        }
    }

    /**
     * Forgets the oldest reply of the client that has the most.
     *
     * @param caller the client for whose call there is to be room; {@code null} if it has nothing here, or it is not for a call
     * @return {@code false} if there is none, or another client, who has less than the caller, would have to pay
     */
    private boolean evict(Client caller) {
        for (Client client : byWeight.descendingSet()) {
            if (client.oldest != null) {
                evictions++;
                remove(client.oldest);
                return true;
            }
            if (client == caller) {
                return false;
            }
        }
        return false;
    }

    private void removeOld() {
        long nowNanos = nanoClock.getAsLong();
        while (!replies.isEmpty()) {
            Entry oldest = replies.values().iterator().next();
            if (nowNanos - oldest.finishedNanos < maxAgeNanos) {
                return;
            }
            remove(oldest);
        }
    }

    /** A reply that is its client's oldest. */
    private void remove(Entry entry) {
        replies.remove(entry.key);
        entry.client.forgetOldest();
        weigh(entry.client, -1, -entry.reply.bytes());
    }

    private void weigh(Client client, int entries, long moreBytes) {
        byWeight.remove(client);
        client.entries += entries;
        client.bytes += moreBytes;
        bytes += moreBytes;
        if (client.entries == 0) {
            clients.remove(client.identity);
        } else {
            byWeight.add(client);
        }
    }

    private double weight(Client client) {
        return (double) client.entries / maxEntries + (double) client.bytes / maxBytes;
    }

    /** What one client has here. */
    private static final class Client {

        private final Object identity;
        private final long number;
        /** Its replies are linked by themselves, so that there is always memory for that. */
        private Entry oldest;
        private Entry newest;
        private int entries;
        private long bytes;

        private Client(Object identity, long number) {
            this.identity = identity;
            this.number = number;
        }

        private void keep(Entry entry) {
            if (newest == null) {
                oldest = entry;
            } else {
                newest.next = entry;
            }
            newest = entry;
        }

        private void forgetOldest() {
            oldest = oldest.next;
            newest = oldest == null ? null : newest;
        }
    }

    /** A call, from when it is begun. */
    private static final class Entry {

        private final CallDigest.Key key;
        private final Client client;
        private final Queue<RpcCall> joined = new LinkedList<>(); // an array that cannot grow loses what is in it
        /** {@code null} until there is one. */
        private KeptReply reply;
        private long finishedNanos;
        /** The next newer one of the client. */
        private Entry next;

        private Entry(CallDigest.Key key, Client client) {
            this.key = key;
            this.client = client;
        }

        /** Returns the call that may wait no longer, {@code null} if there is none. */
        private RpcCall join(RpcCall call) {
            joined.add(call);
            return joined.size() > MAX_JOINED ? joined.remove() : null;
        }

        /** When nobody joins any more. */
        private void answerJoined(Consumer<RpcCall> answer) {
            for (RpcCall waiting = joined.poll(); waiting != null; waiting = joined.poll()) {
                answer.accept(waiting);
            }
        }
    }

    /** Keeps the answer of the program, and passes it on. */
    private final class Recorder implements ServedCallOwner {

        private final RpcCall call;
        private final Entry entry;

        private Recorder(RpcCall call, Entry entry) {
            this.call = call;
            this.entry = entry;
        }

        @Override
        public Channel channel() {
            return call.channel();
        }

        @Override
        public void programFailed(RpcCallHeader header, Throwable cause) {
            call.owner().programFailed(header, cause);
        }

        @Override
        public void refuse(RpcCall recorded, RpcReplyHeader reply) {
            try {
                finish(entry, KeptReply.of(reply));
            } finally { // also without memory to keep it
                call.tryRefuse(reply);
                entry.answerJoined(waiting -> waiting.tryRefuse(reply));
            }
        }

        @Override
        public void send(RpcCall recorded, Object message) {
            int xid = call.header().xid();
            KeptReply reply;
            try {
                reply = KeptReply.of(message, xid, maxBytes);
            } catch (RuntimeException | Error e) { // results that cannot be read no transport could send either
                ReferenceCountUtil.safeRelease(message);
                refuse(recorded, new RpcReplyHeader.Accepted(xid, AcceptStatus.SYSTEM_ERR));
                throw e;
            }
            try {
                finish(entry, reply); // before the client can see the reply
            } finally { // also without memory to keep it
                call.tryAnswer(message);
                entry.answerJoined(reply::answer);
            }
        }
    }
}
