package org.nettyrdma.verbs.disni;

/**
 * What the connection manager can report, in the order of {@code enum rdma_cm_event_type}.
 */
enum ConnectionEventType {
    ADDRESS_RESOLVED(0),
    ADDRESS_ERROR(1),
    ROUTE_RESOLVED(2),
    ROUTE_ERROR(3),
    CONNECT_REQUEST(4),
    CONNECT_RESPONSE(5),
    CONNECT_ERROR(6),
    UNREACHABLE(7),
    REJECTED(8),
    ESTABLISHED(9),
    DISCONNECTED(10),
    DEVICE_REMOVAL(11),
    MULTICAST_JOIN(12),
    MULTICAST_ERROR(13),
    ADDRESS_CHANGE(14),
    TIME_WAIT_EXIT(15),
    /** Not of the connection manager: the device reports that a queue pair is broken. */
    DEVICE_FAULT(-2),
    /** A number that this class does not know. */
    UNKNOWN(-1);

    private static final ConnectionEventType[] VALUES = values();

    private final int code;

    ConnectionEventType(int code) {
        this.code = code;
    }

    int code() {
        return code;
    }

    static ConnectionEventType of(int code) {
        for (ConnectionEventType type : VALUES) {
            if (type.code == code) {
                return type;
            }
        }
        return UNKNOWN;
    }
}
