package org.nettyrdma.verbs.disni;

import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.impl.NatCmaIdPrivate;
import java.io.IOException;

/** A connection of a {@link NativeDevice} with itself. */
final class NativeConnection implements AutoCloseable {

    static final int ADDRESS_RESOLVED = 0;
    static final int ROUTE_RESOLVED = 2;
    static final int CONNECT_REQUEST = 4;
    static final int REJECTED = 8;
    static final int ESTABLISHED = 9;
    static final int DISCONNECTED = 10;

    final NativeDevice device;
    final RdmaCmId client;
    final long clientQueuePair;
    RdmaCmId server;
    long serverQueuePair;
    byte[] acceptedData;
    int acceptedResponderResources;
    int acceptedInitiatorDepth;

    /** Resolves the address of the device and creates the client's queue pair, no more. */
    NativeConnection(NativeDevice device) throws IOException {
        this.device = device;
        client = device.newId(device.events);
        byte[] target = NativeExtensions.localAddress(NativeDevice.handle(device.listener));
        NativeExtensions.resolveAddress(NativeDevice.handle(client), null, target, 5_000);
        device.awaitEvent(device.events, ADDRESS_RESOLVED);
        client.resolveRoute(5_000);
        device.awaitEvent(device.events, ROUTE_RESOLVED);
        NativeExtensions.setElementLimits(NativeDevice.handle(client), 6, 2);
        clientQueuePair = device.newQueuePair(client);
    }

    /** Sends a connection request; when this returns it has come, and the device's event tells of it. */
    void request(byte[] privateData, int responderResources, int initiatorDepth) throws IOException {
        NativeExtensions.connect(NativeDevice.handle(client), privateData, responderResources, initiatorDepth, 7, 7);
        long handle = device.awaitEvent(device.events, CONNECT_REQUEST);
        server = new NatCmaIdPrivate(handle, device.events, device.dispatcher);
    }

    /** Accepts; when this returns both sides are connected. */
    void accept(byte[] privateData, int responderResources, int initiatorDepth) throws IOException {
        NativeExtensions.setElementLimits(NativeDevice.handle(server), 6, 2);
        serverQueuePair = device.newQueuePair(server);
        NativeExtensions.accept(NativeDevice.handle(server), privateData, responderResources, initiatorDepth, 7, 7);
        for (int i = 0; i < 2; i++) {
            if (device.awaitEvent(device.events, ESTABLISHED) == NativeDevice.handle(client)) {
                acceptedData = device.eventPrivateData();
                acceptedResponderResources = device.event.getInt(NativeExtensions.EVENT_RESPONDER_RESOURCES);
                acceptedInitiatorDepth = device.event.getInt(NativeExtensions.EVENT_INITIATOR_DEPTH);
            }
        }
    }

    NativeConnection connect() throws IOException {
        request(new byte[0], 4, 4);
        accept(new byte[0], 4, 4);
        return this;
    }

    @Override
    public void close() throws IOException {
        for (RdmaCmId id : new RdmaCmId[] {client, server}) {
            if (id != null) {
                id.disconnect();
                device.cm.destroyEp(id);
            }
        }
    }
}
