package org.nettyrdma.codec.oncrpc;

import static io.netty.util.internal.ObjectUtil.checkPositive;

import io.netty.util.internal.PlatformDependent;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
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
    private final Set<Share> waiting = new LinkedHashSet<>();
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
        return waiting.size();
    }

    /**
     * Whether a connection waits of an address that has nothing, or did a moment ago. That has its share, so that nothing is left
     * to anybody.
     *
     * @return whether others should give some back
     */
    public synchronized boolean isGone() {
        long nowNanos = System.nanoTime();
        if (nowNanos - goneNanos >= GONE_NANOS) {
            goneNanos = nowNanos;
            gone = waiting.stream().anyMatch(share -> share.address.usedBytes == 0);
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
        address.shares++;
        return new Share(address, executor, granted);
    }

    /** Each byte that is given back leaves one more, of which one more is free. */
    private static long half(long bytes) {
        return bytes + 1 >> 1;
    }

    /** Meets the claims that can be met. One pass does, as each that is met leaves less to the others. */
    private void grant() {
        List<Share> failed = List.of();
        for (List<Share> met = meetClaims(); !met.isEmpty(); met = meetClaims()) {
            for (Share share : met) {
                if (!share.tell()) {
                    failed = new ArrayList<>(failed);
                    failed.add(share);
                }
            }
        }
        if (!failed.isEmpty()) {
            synchronized (this) {
                failed.removeIf(share -> share.closed); // by its event loop meanwhile
                waiting.addAll(failed); // until the next one gives something back
                lookAgainAtBytes = 0;
            }
        }
    }

    private synchronized List<Share> meetClaims() {
        if (waiting.isEmpty() || returnedBytes < lookAgainAtBytes) {
            return List.of();
        }
        lookAgainAtBytes = Long.MAX_VALUE;
        List<Share> met = new ArrayList<>();
        for (Iterator<Share> shares = waiting.iterator(); shares.hasNext();) {
            Share share = shares.next();
            long missing = share.missing(share.claimedBytes);
            if (missing == 0) {
                shares.remove();
                share.add(share.claimedBytes);
                met.add(share);
            } else {
                lookAgainAtBytes = Math.min(lookAgainAtBytes, returnedBytes + missing);
            }
        }
        return met;
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
        private boolean closed;

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
         * taken, and {@link #release} has to follow.
         */
        void claim(long bytes) {
            synchronized (MemoryBudget.this) {
                claimedBytes = bytes;
                waiting.add(this);
                lookAgainAtBytes = Math.min(lookAgainAtBytes, returnedBytes + missing(bytes));
            }
            grant(); // what was released after the caller had looked would wake nobody else
        }

        /**
         * Waits no longer.
         *
         * @return {@code false} if it is too late: the executor is told, or was told
         */
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
                if (address.shares == 0) {
                    addresses.remove(address.key);
                }
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
                PeerLog.fault(LOGGER, "a connection", "it cannot be told that it has memory", t);
                takeBack();
                return false;
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
