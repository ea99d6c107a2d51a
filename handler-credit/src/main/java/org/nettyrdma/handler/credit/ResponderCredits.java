package org.nettyrdma.handler.credit;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntSupplier;

/** The half of {@link CreditGate} for the requests that the peer sends. Event loop only. */
final class ResponderCredits {

    /**
     * Its limit is the highest grant so far. A smaller grant takes effect when the peer has read it. This end does not know which
     * requests the peer sent before it read the grant.
     */
    private final CreditWindow window;
    private final IntSupplier grantable;
    private long requested = 1;
    private final AtomicLong exceeded = new AtomicLong(); // one thread adds, others may look: it is written opaquely
    private long requests;
    private long responses;

    /**
     * @param grantable most that may be granted at this moment, any number
     */
    ResponderCredits(int maxCredits, IntSupplier grantable) {
        this.grantable = grantable;
        window = new CreditWindow(maxCredits);
    }

    CreditStatistics.Served statistics() {
        return new CreditStatistics.Served(window.limit(), window.inUse(), exceeded.getOpaque());
    }

    int granted() {
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
        if (!window.tryAcquire()) {
            exceeded.setOpaque(exceeded.getPlain() + 1);
            return false;
        }
        requested = request.credits();
        requests++;
        return true;
    }

    /** Counts a response and returns it with its grant. */
    CreditedMessage stamp(CreditedMessage response) {
        responses++;
        // A codec may also answer what it could not recognise as a request and did not pass up.
        if (window.inUse() > 0) {
            window.release();
        }
        int grant = window.clamp(Math.min(requested, grantable.getAsInt()));
        window.setLimit(Math.max(window.limit(), grant));
        return response.credits() == grant ? response : response.withCredits(grant);
    }
}
