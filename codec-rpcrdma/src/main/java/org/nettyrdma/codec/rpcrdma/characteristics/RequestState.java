package org.nettyrdma.codec.rpcrdma.characteristics;

/** What is known of a property of the peer that this side may ask to be changed (xcharext-02, sections 4.2 to 4.4). */
enum RequestState {
    /** Nothing is asked for. */
    IDLE,
    /** A change is asked for, or is about to be, and there is no response. */
    ASKED,
    /** The peer has said that the change is pending. */
    PENDING;

    /** What can happen. */
    enum Event {
        /** This side asks for a change. */
        ASK,
        /** The response says: done. */
        DONE,
        /** The response says: rejected; or the peer does not have the extension. */
        REJECTED,
        /** The response says: pending. */
        DEFERRED,
        /** An update that completes nothing. */
        UPDATED,
        /** An update that completes a request. */
        COMPLETED,
        /** There will be no response. */
        GIVEN_UP
    }

    /**
     * The state after an event.
     *
     * @throws CharacteristicsException if the event cannot happen in this state: then the peer breaks a rule, or, if the event is
     *                                  {@link Event#ASK}, the user asks too early
     */
    RequestState on(Event event) throws CharacteristicsException {
        return switch (this) {
            case IDLE -> switch (event) {
                case ASK -> ASKED;
                case UPDATED, GIVEN_UP -> IDLE;
                case DONE, REJECTED, DEFERRED, COMPLETED -> throw impossible(event);
            };
            case ASKED -> switch (event) {
                case DONE, REJECTED, GIVEN_UP -> IDLE;
                case DEFERRED -> PENDING;
                case UPDATED -> ASKED;
                case ASK, COMPLETED -> throw impossible(event);
            };
            case PENDING -> switch (event) {
                case COMPLETED, GIVEN_UP -> IDLE;
                case UPDATED -> PENDING;
                case ASK, DONE, REJECTED, DEFERRED -> throw impossible(event);
            };
        };
    }

    private CharacteristicsException impossible(Event event) {
        return new CharacteristicsException(event == Event.ASK ? "a request for the property is on its way or pending"
                : event == Event.COMPLETED ? "update with rdma_pendclr without a pending request"
                : "response " + event + " to a request that is " + this);
    }
}
