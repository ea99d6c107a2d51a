package org.nettyrdma.handler.credit;

import java.util.function.IntSupplier;

/** The half of {@link CreditGate} for the requests that the peer sends. Event loop only. */
final class ResponderCredits {

    /**
     * Its limit is the highest grant so far: a smaller one takes effect when the peer has read it, and what it has sent by
     * then cannot be told from what it sends afterwards.
     */
    private final CreditWindow window;
    private final IntSupplier grantable;
    private long requested = 1;
    private long exceeded;
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
        return new CreditStatistics.Served(window.limit(), window.inUse(), exceeded);
    }

    int granted() {
        return window.limit();
    }

    /** How many responses were sent. */
    long responses() {
        return responses;
    }

    /**
     * How many responses, the first ones, the peer must have received: for each request beyond the highest grant it has got back a
     * credit, which only responses bring.
     */
    long responsesArrived() {
        return Math.min(responses, requests - window.limit());
    }

    /** Counts a request; {@code false} if the peer was not granted it. */
    boolean requestReceived(CreditedMessage request) {
        if (!window.tryAcquire()) {
            exceeded++;
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
