package org.nettyrdma.example.nfs.server;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.nettyrdma.codec.oncrpc.AuthFlavor;
import org.nettyrdma.codec.oncrpc.OpaqueAuth;
import org.nettyrdma.codec.oncrpc.RpcCall;

/**
 * Replies to calls that must not be executed twice. A client that lost its connection sends its calls again on the next
 * one, with the same XIDs, whether or not they were executed; a second REMOVE would fail with NFS3ERR_NOENT. So it is
 * given the reply of the first. If that is still being worked on, the second waits for it and takes the same reply.
 *
 * <p>Bounded in number and age; replies leave in the order in which their calls came. Thread safe: the monitor guards the
 * map, calls are answered outside of it.
 */
final class DuplicateRequestCache {

    /**
     * What tells one call from another. The port is left out: a client may come back from another one. Behind one address may be
     * several clients that do not trust each other, so that the rest is a digest of the whole call under a secret: who does not
     * know the call can neither read its reply nor be in its place before it comes.
     */
    record Key(String client, int xid, int procedure, long digest, long moreDigest) {
    }

    private static final class Entry {
        private final long startedNanos;
        private final List<RpcCall> waiting = new ArrayList<>(0);
        private byte[] results;

        private Entry(long startedNanos) {
            this.startedNanos = startedNanos;
        }
    }

    private static final int SECRET_BYTES = 32;

    private final byte[] secret = new byte[SECRET_BYTES];
    private final int maxEntries;
    private final long maxAgeNanos;
    private final LongSupplier nanoClock;
    private final Map<Key, Entry> entries = new LinkedHashMap<>();

    DuplicateRequestCache(int maxEntries, long maxAgeMillis, LongSupplier nanoClock) {
        this.maxEntries = maxEntries;
        maxAgeNanos = TimeUnit.MILLISECONDS.toNanos(maxAgeMillis);
        this.nanoClock = nanoClock;
        new SecureRandom().nextBytes(secret);
    }

    Key keyOf(RpcCall call) {
        OpaqueAuth credential = call.header().credential();
        byte[] body = credential.body();
        MessageDigest sha256 = sha256();
        sha256.update(secret);
        sha256.update(ByteBuffer.allocate(2 * Integer.BYTES).putInt(credential.flavor()).putInt(body.length).flip());
        // The stamp in front of an AUTH_SYS body may be another one each time that a call is sent (RFC 5531, appendix A).
        int start = credential.flavor() == AuthFlavor.AUTH_SYS.code() ? Integer.BYTES : 0;
        sha256.update(body, start, body.length - start);
        for (ByteBuffer part : call.arguments().nioBuffers()) {
            sha256.update(part);
        }
        ByteBuffer digest = ByteBuffer.wrap(sha256.digest());
        return new Key(ClientAddress.of(call), call.header().xid(), call.procedure(), digest.getLong(), digest.getLong());
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    /**
     * Says what to do with a call.
     *
     * @return {@code true} if the caller has to execute it, and then to call {@link #executed} or {@link #failed};
     *         {@code false} if it is answered, or will be
     */
    boolean begin(Key key, RpcCall call) {
        byte[] results;
        synchronized (this) {
            removeOld();
            Entry entry = entries.get(key);
            if (entry == null) {
                entries.put(key, new Entry(nanoClock.getAsLong()));
                return true;
            }
            results = entry.results;
            if (results == null) {
                entry.waiting.add(call);
                return false;
            }
        }
        call.reply(Unpooled.wrappedBuffer(results));
        return false;
    }

    /** Keeps the results, which stay the caller's, and answers the calls that waited for them. */
    void executed(Key key, ByteBuf results) {
        byte[] kept = ByteBufUtil.getBytes(results);
        List<RpcCall> waiting;
        synchronized (this) {
            Entry entry = entries.get(key);
            entry.results = kept;
            waiting = List.copyOf(entry.waiting);
            entry.waiting.clear();
        }
        waiting.forEach(call -> call.reply(Unpooled.wrappedBuffer(kept)));
    }

    /** Forgets a call that had no results. */
    void failed(Key key, Throwable cause) {
        List<RpcCall> waiting;
        synchronized (this) {
            waiting = entries.remove(key).waiting;
        }
        waiting.forEach(call -> call.replySystemError(cause));
    }

    synchronized int size() {
        return entries.size();
    }

    /** Calls in execution stay, so that {@link #executed} finds them: they are few, one for each thread. */
    private void removeOld() {
        long nowNanos = nanoClock.getAsLong();
        Iterator<Entry> eldest = entries.values().iterator();
        while (eldest.hasNext()) {
            Entry entry = eldest.next();
            if (entries.size() < maxEntries && nowNanos - entry.startedNanos < maxAgeNanos) {
                return;
            }
            if (entry.results != null) {
                eldest.remove();
            }
        }
    }
}
