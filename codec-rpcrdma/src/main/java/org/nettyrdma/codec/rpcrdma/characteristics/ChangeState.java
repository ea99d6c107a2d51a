package org.nettyrdma.codec.rpcrdma.characteristics;

/** What is going on with a property of this side (xcharext-02, sections 4.3 and 4.4). */
enum ChangeState {
    /** The peer knows the value, and no other is in sight. */
    SETTLED,
    /** This side is changing the value on its own, and will tell. */
    OFFERED,
    /** The peer has asked and was told "pending": it is owed an update. */
    OWED;

    /** What can happen. */
    enum Event {
        /** The peer asks for a change that would be pending. */
        ASKED,
        /** This side wants to change the value. */
        OFFER,
        /** The change has come to its end. */
        READY
    }

    /** The state after an event, {@code null} if the event must be refused. */
    ChangeState on(Event event) {
        return switch (this) {
            case SETTLED -> switch (event) {
                case ASKED -> OWED;
                case OFFER -> OFFERED;
                case READY -> null;
            };
            case OFFERED, OWED -> switch (event) {
                case ASKED, OFFER -> null; // one change after the other
                case READY -> SETTLED;
            };
        };
    }
}
