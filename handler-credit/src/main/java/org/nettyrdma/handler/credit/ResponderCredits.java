package org.nettyrdma.handler.credit;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntSupplier;

/** The half of {@link CreditGate} for the requests that the peer sends. Event loop only. */
final class ResponderCredits {

    /** Its limit is the highest grant so far, beyond which {@link #mostRequests} never lets anybody get. */
    private final CreditWindow window;
    private final IntSupplier grantable;
    private long requested = 1;
    // One thread writes these, others may look: so they are written opaquely, which costs nothing.
    private final AtomicInteger granted = new AtomicInteger(1);
    private final AtomicLong exceeded = new AtomicLong();
    private long requests;
    private long responses;
    /**
     * How many requests the peer may have sent, counted from the first. A peer that has got {@code n} responses and looked at a
     * grant of {@code g} may have sent {@code n + g}. This end does not know how many it has got, but that it was one of the
     * numbers so far; this is the most that any of them allows. So a smaller grant counts as soon as it must be known.
     */
    private long mostRequests = 1;
    private int lastGrant = 1;

    /**
     * @param grantable most that may be granted at this moment, any number
     */
    ResponderCredits(int maxCredits, IntSupplier grantable) {
        this.grantable = grantable;
        window = new CreditWindow(maxCredits);
    }

    CreditStatistics.Served statistics() {
        return new CreditStatistics.Served(granted.getOpaque(), window.inUse(), exceeded.getOpaque());
    }

    /** The most that the peer was ever granted. */
    int mostGranted() {
        return window.limit();
    }

    /** How many responses were sent. */
    long responses() {
        return responses;
    }

    /**
     * How many responses, counted from the first, the peer must have received. For each request beyond the highest grant the peer
     * has got a credit back, and only responses bring credits back.
     */
    long responsesArrived() {
        return Math.min(responses, requests - window.limit());
    }

    /** Counts a request; {@code false} if the peer was not granted it. */
    boolean requestReceived(CreditedMessage request) {
        if (!tryReceive(request.credits())) {
            exceeded.setOpaque(exceeded.getPlain() + 1);
            return false;
        }
        return true;
    }

    /**
     * Counts a request if the peer was granted it.
     *
     * @param wanted what it asks for
     */
    boolean tryReceive(long wanted) {
        if (requests >= mostRequests || !window.tryAcquire()) {
            return false;
        }
        requested = wanted;
        requests++;
        return true;
    }

    /** Counts a response and returns it with its grant. */
    CreditedMessage stamp(CreditedMessage response) {
        int grant = grant(response.grantsCredits());
        try {
            return response.credits() == grant ? response : response.withCredits(grant);
        } catch (RuntimeException | Error e) { // no memory, for instance; Netty fails the promise
            response.release();
            throw e;
        }
    }

    /**
     * Counts a response and returns its grant.
     *
     * @param counts whether the peer looks at it
     */
    int grant(boolean counts) {
        responses++;
        // A codec may also answer what it could not recognise as a request and did not pass up.
        if (window.inUse() > 0) {
            window.release();
        }
        int grant = window.clamp(Math.min(requested, grantable.getAsInt()));
        granted.setOpaque(grant);
        window.setLimit(Math.max(window.limit(), grant));
        // The peer may take back the credit of a response before it looks at the grant of it.
        mostRequests = Math.max(mostRequests, requests - window.inUse() + Math.max(lastGrant, grant));
        lastGrant = counts ? grant : Math.max(lastGrant, grant); // it may not look at this one
        return grant;
    }
}
