package org.nettyrdma.verbs.disni;

import java.nio.ByteBuffer;

/**
 * What the connection manager reported about one identifier.
 *
 * @param type              what happened
 * @param status            0, or why: a negative errno, or the transport's reason of a rejection
 * @param inboundReadDepth  RDMA Reads that the peer may direct at this side
 * @param outboundReadDepth RDMA Reads that this side may direct at the peer
 * @param privateData       what the peer sent along, read-only
 */
record ConnectionEvent(ConnectionEventType type, int status, int inboundReadDepth, int outboundReadDepth,
        ByteBuffer privateData) {

    /** The device reports that the queue pair of a connection is broken. */
    static ConnectionEvent deviceFault(int asyncEvent) {
        return new ConnectionEvent(ConnectionEventType.DEVICE_FAULT, asyncEvent, 0, 0, ByteBuffer.allocate(0));
    }

    /** Copies an event out of the memory where the native library has written it. */
    static ConnectionEvent read(ByteBuffer event) {
        byte[] privateData = new byte[event.getInt(NativeExtensions.EVENT_PRIVATE_DATA_LENGTH)];
        event.get(NativeExtensions.EVENT_PRIVATE_DATA, privateData);
        return new ConnectionEvent(ConnectionEventType.of(event.getInt(NativeExtensions.EVENT_TYPE)),
                event.getInt(NativeExtensions.EVENT_STATUS), event.getInt(NativeExtensions.EVENT_RESPONDER_RESOURCES),
                event.getInt(NativeExtensions.EVENT_INITIATOR_DEPTH), ByteBuffer.wrap(privateData).asReadOnlyBuffer());
    }

    /** The type and the status, for messages. */
    String describe() {
        return status == 0 ? type.toString() : type + " (status " + status + ')';
    }
}
