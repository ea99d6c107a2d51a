package org.nettyrdma.codec.oncrpc;

import static io.netty.util.internal.ObjectUtil.checkPositive;

import io.netty.util.internal.PlatformDependent;
import java.net.SocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.handler.credit.support.WaitTimes;
import org.nettyrdma.peer.PeerAddress;
import org.nettyrdma.peer.PeerLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Memory that the calls of many connections share, over one or more transports. One object may serve an RDMA and a TCP server at
 * the same time. Any thread may use it, and no thread ever waits inside of it.
 *
 * <h2>Shares</h2>
 * Memory of a call cannot be taken back before the call has ended. So the memory that a peer can take and keep is bounded, and
 * some is left for connections that come later:
 * <ul>
 * <li>A connection without memory gets what one call needs. A connection with memory gets more, up to 1/128 of all memory. So
 * 64 connections that give nothing back hold at most half of it, as long as calls are no larger than 1/128.
 * <li>Beyond 1/128 a connection gets no more than what is left of the first quarter of all memory. One connection alone gets
 * an eighth. The more others have, the less it gets.
 * <li>All connections of one address together leave 1/16 of all memory to others, and as much as the next call of the address
 * takes. The address may use this last 1/16 only as far as it has no more than what it leaves. So each further address can
 * halve what is left, and never takes all of it. An address is an IPv4 address, an IPv6 network of 64 bits, or a link-local
 * IPv6 address.
 * </ul>
 *
 * <p>Records over TCP that are not yet whole take memory of another budget, half as large, by the same rules.
 *
 * <p>Connections that wait are served in the order in which they came, with two exceptions: a connection that has its share
 * does not hold up others, and a small call may pass one that is larger than all that is left.
 */
public final class MemoryBudget {

    /** The default: 512 MiB, or a quarter of the JVM's limit of direct memory if that is less; in bytes. */
    public static final long DEFAULT_MAX_BYTES = Math.min(512L << 20, PlatformDependent.maxDirectMemory() / 4);

    /** This part of all memory is given to whoever asks first. */
    private static final int COMMON_PART = 4;
    /** Each connection may have this part of what there is, whatever others have. */
    private static final int CONNECTION_PART = 128;
    /** This part is kept for addresses that have little. */
    private static final int LAST_PART = 16;

    /** So long an answer of {@link #isGone} holds: each of many that ask would go through many that wait. */
    private static final long GONE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private static final Logger LOGGER = LoggerFactory.getLogger(MemoryBudget.class);

    private final long maxBytes;
    private final MemoryBudget records;
    // All that follows, and what is in shares and addresses, is guarded by this; nothing foreign is called meanwhile.
    private final Map<PeerAddress, Address> addresses = new HashMap<>();
    private final Claims waiting = new Claims();
    private long usedBytes;
    /** All that was ever given back. */
    private long returnedBytes;
    /** No claim can be met before so much was given back. To look at all that wait each time would take all the time. */
    private long lookAgainAtBytes;
    private boolean gone;
    private long goneNanos = System.nanoTime() - GONE_NANOS;
    private final WaitTimes waits = new WaitTimes("memory");

    /**
     * Creates a budget of which nothing is used.
     *
     * @param maxBytes how much there is in bytes, more than 0
     * @throws IllegalArgumentException if it is not positive
     */
    public MemoryBudget(long maxBytes) {
        this(checkPositive(maxBytes, "maxBytes"), new MemoryBudget(Math.max(1, maxBytes / 2), null));
    }

    private MemoryBudget(long maxBytes, MemoryBudget records) {
        this.maxBytes = maxBytes;
        this.records = records;
    }

    /**
     * A second budget of half the size, for records that have not arrived whole. So unfinished records cannot take the memory of
     * calls.
     */
    MemoryBudget records() {
        return records;
    }

    /**
     * How much there is.
     *
     * @return bytes, constant
     */
    public long maxBytes() {
        return maxBytes;
    }

    /**
     * How much calls have now.
     *
     * @return bytes, 0 to {@link #maxBytes()}
     */
    public synchronized long usedBytes() {
        return usedBytes;
    }

    /**
     * How many connections wait for memory.
     *
     * @return their number
     */
    public synchronized int waiting() {
        return waiting.size;
    }

    /**
     * Whether nothing is left to anybody: a connection waits whose address has nothing, and which would get its share at once if
     * there were something. The answer may be a tenth of a second old.
     *
     * @return whether others should give some back
     */
    public synchronized boolean isGone() {
        long nowNanos = System.nanoTime();
        if (nowNanos - goneNanos >= GONE_NANOS) {
            goneNanos = nowNanos;
            gone = waiting.hasOneOfAnAddressWithNothing();
        }
        return gone;
    }

    /**
     * How often calls, and records that had not arrived whole, have waited for memory, and wait no more.
     *
     * @return their number
     */
    public long waits() {
        return waits.count() + (records == null ? 0 : records.waits());
    }

    /**
     * How long these waited in all.
     *
     * @return nanoseconds
     */
    public long waitedNanos() {
        return waits.nanos() + (records == null ? 0 : records.waitedNanos());
    }

    WaitTimes waitTimes() {
        return waits;
    }

    /**
     * Begins to count what a connection takes; {@link Share#close()} has to follow.
     *
     * @param peer     whose connection it is, {@code null} if that is not known
     * @param executor runs {@code granted}
     * @param granted  runs each time that a claim was met
     */
    synchronized Share open(SocketAddress peer, Executor executor, Runnable granted) {
        Address address = addresses.computeIfAbsent(PeerAddress.of(peer), Address::new);
        try {
            Share share = new Share(address, executor, granted);
            address.shares++;
            return share;
        } finally {
            forgetIfUnused(address); // where there was no memory for the share
        }
    }

    private void forgetIfUnused(Address address) {
        if (address.shares == 0) {
            addresses.remove(address.key);
        }
    }

    /** Each byte that is given back leaves one more, of which one more is free. */
    private static long half(long bytes) {
        return bytes + 1 >> 1;
    }

    /** Meets the claims that can be met. One pass does, as each that is met leaves less to the others. Needs no memory. */
    private void grant() {
        Share failed = null;
        Share lastFailed = null;
        for (Share met = meetClaims(); met != null; met = meetClaims()) {
            while (met != null) {
                Share share = met;
                met = share.after;
                share.after = null; // it is its event loop's from now on
                if (!share.tell()) {
                    if (failed == null) {
                        failed = share;
                    } else {
                        lastFailed.after = share;
                    }
                    lastFailed = share;
                }
            }
        }
        if (failed != null) {
            waitAgain(failed);
        }
    }

    /** Until the next one gives something back. */
    private synchronized void waitAgain(Share failed) {
        Share next;
        for (Share share = failed; share != null; share = next) {
            next = share.after;
            share.after = null;
            if (!share.closed) { // by its event loop meanwhile
                waiting.add(share);
            }
        }
        lookAgainAtBytes = 0;
    }

    /** Returns the first of those that are met, with the others behind it; {@code null} if none is. */
    private synchronized Share meetClaims() {
        if (waiting.size == 0 || returnedBytes < lookAgainAtBytes) {
            return null;
        }
        lookAgainAtBytes = Long.MAX_VALUE;
        Share met = null;
        Share lastMet = null;
        Share next;
        for (Share share = waiting.first; share != null; share = next) {
            next = share.after;
            long missing = share.missing(share.claimedBytes);
            if (missing == 0) {
                waiting.remove(share);
                share.add(share.claimedBytes);
                if (met == null) {
                    met = share;
                } else {
                    lastMet.after = share;
                }
                lastMet = share;
            } else {
                lookAgainAtBytes = Math.min(lookAgainAtBytes, returnedBytes + missing);
            }
        }
        return met;
    }

    /** The shares that wait, in the order in which they came. They are linked to each other, so that a claim needs no memory. */
    private static final class Claims {

        private Share first;
        private Share last;
        private int size;

        void add(Share share) {
            share.waits = true;
            share.before = last;
            if (last == null) {
                first = share;
            } else {
                last.after = share;
            }
            last = share;
            size++;
        }

        boolean remove(Share share) {
            if (!share.waits) {
                return false;
            }
            share.waits = false;
            if (share.before == null) {
                first = share.after;
            } else {
                share.before.after = share.after;
            }
            if (share.after == null) {
                last = share.before;
            } else {
                share.after.before = share.before;
            }
            share.before = null;
            share.after = null;
            size--;
            return true;
        }

        boolean hasOneOfAnAddressWithNothing() {
            Share share = first;
            while (share != null && share.address.usedBytes > 0) {
                share = share.after;
            }
            return share != null;
        }
    }

    /** What the connections of one address have. */
    private static final class Address {

        private final PeerAddress key;
        private int shares;
        private long usedBytes;

        private Address(PeerAddress key) {
            this.key = key;
        }
    }

    /** What one connection has of the memory, and what it waits for. */
    final class Share {

        private final Address address;
        private final Executor executor;
        private final Runnable granted;
        private long ownBytes;
        private long claimedBytes;
        private boolean waits;
        private boolean closed;
        /** The neighbours among those that wait; the next one also where claims are met. */
        private Share before;
        private Share after;

        private Share(Address address, Executor executor, Runnable granted) {
            this.address = address;
            this.executor = executor;
            this.granted = granted;
        }

        /**
         * How much has to be given back before this may have bytes; 0 if it may have them now. It can be more: of each byte this
         * supposes that it is of this share. What is taken meanwhile only adds to it.
         */
        private long missing(long bytes) {
            long left = maxBytes - usedBytes - bytes;
            long ofConnection = Math.min(ownBytes, Math.min(ownBytes + bytes - maxBytes / CONNECTION_PART,
                    half(ownBytes + bytes - (maxBytes / COMMON_PART - usedBytes - bytes))));
            long ofAddress = Math.min(address.usedBytes, Math.min(half(address.usedBytes + bytes - left),
                    Math.max(maxBytes / LAST_PART, bytes) - left));
            return Math.max(Math.max(0, -left), Math.max(ofConnection, ofAddress));
        }

        private void add(long bytes) {
            returnedBytes += Math.max(0, -bytes);
            usedBytes += bytes;
            ownBytes += bytes;
            address.usedBytes += bytes;
        }

        /**
         * Takes bytes if they are there and the share allows it.
         *
         * @return whether they were taken; then {@link #release} has to follow
         */
        boolean tryTake(long bytes) {
            synchronized (MemoryBudget.this) {
                boolean allowed = missing(bytes) == 0;
                if (allowed) {
                    add(bytes);
                }
                return allowed;
            }
        }

        /** Gives bytes back. Without effect when the share is closed. */
        void release(long bytes) {
            synchronized (MemoryBudget.this) {
                if (closed) {
                    return;
                }
                add(-bytes);
            }
            grant();
        }

        /**
         * Waits for bytes, at most {@link #maxBytes()}; for one number at a time. The executor is told once when they were
         * taken, and {@link #release} has to follow. Needs no memory.
         */
        void claim(long bytes) {
            synchronized (MemoryBudget.this) {
                claimedBytes = bytes;
                waiting.add(this);
                lookAgainAtBytes = Math.min(lookAgainAtBytes, returnedBytes + missing(bytes));
            }
            grant(); // what was released after the caller had looked would wake nobody else
        }

        /** Waits no longer. Returns {@code false} if it is too late: the executor is told, or was told. */
        boolean withdraw() {
            synchronized (MemoryBudget.this) {
                return waiting.remove(this);
            }
        }

        /** Gives everything back and waits for nothing. What was granted may still be told. */
        void close() {
            synchronized (MemoryBudget.this) {
                if (closed) {
                    return;
                }
                waiting.remove(this);
                add(-ownBytes);
                closed = true;
                address.shares--;
                forgetIfUnused(address);
            }
            grant();
        }

        /** Returns whether the claim has been told, or nobody is there to be told. */
        private boolean tell() {
            try {
                executor.execute(granted);
                return true;
            } catch (RejectedExecutionException e) {
                close(); // the event loop has shut down, and its connections are closed
                return true;
            } catch (Throwable t) { // no thread can be started; others must not wait for that
                takeBack();
                tellFailure(t);
                return false;
            }
        }

        private void tellFailure(Throwable failure) {
            try {
                PeerLog.fault(LOGGER, "a connection", "it cannot be told that it has memory", failure);
            } catch (OutOfMemoryError e) {
                return; // others are still to be told
            }
        }

        private void takeBack() {
            synchronized (MemoryBudget.this) {
                if (!closed) {
                    add(-claimedBytes);
                }
            }
        }
    }
}
