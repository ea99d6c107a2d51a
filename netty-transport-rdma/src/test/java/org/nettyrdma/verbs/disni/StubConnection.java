package org.nettyrdma.verbs.disni;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.nettyrdma.verbs.ConnectionParameters;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.QueuePairAttributes;
import org.nettyrdma.verbs.SendWorkRequest;

/** A connection on the device of {@link StubVerbs}, and what its user has heard of it. */
final class StubConnection implements QueuePair.Listener {

    static final int DEPTH = 8;
    private static final ByteBuffer NO_DATA = ByteBuffer.allocate(0);

    final DisniQueuePair queuePair;
    final List<String> heard = new ArrayList<>();

    /** Is made of a request, and not accepted. */
    StubConnection(DisniContext context, DisniConnectionRequest request) throws IOException {
        queuePair = (DisniQueuePair) context.createQueuePair(attributes(), this, request);
    }

    /** Is made of a request that was {@linkplain DisniConnectionRequest#take taken}. */
    static StubConnection ofTaken(DisniContext context, DisniConnectionRequest taken) throws IOException {
        StubConnection connection = new StubConnection(context, taken, attributes());
        connection.queuePair.takeUpRequest();
        return connection;
    }

    private StubConnection(DisniContext context, DisniConnectionRequest taken, QueuePairAttributes attributes) {
        queuePair = new DisniQueuePair(context, attributes, this, taken);
    }

    /** Connects, and lets the context deliver that. */
    StubConnection(DisniContext context) throws IOException {
        this(context, null, attributes());
        startConnecting();
        tell(ConnectionEventType.ADDRESS_RESOLVED, ConnectionEventType.ROUTE_RESOLVED, ConnectionEventType.ESTABLISHED);
        context.poll((id, status, byteLength, invalidated, tag, vendorError) -> { }, 100);
    }

    /** Only starts to connect. */
    static StubConnection connecting(DisniContext context) throws IOException {
        StubConnection connection = new StubConnection(context, null, attributes());
        connection.startConnecting();
        return connection;
    }

    private void startConnecting() throws IOException {
        queuePair.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), 1), null, NO_DATA);
    }

    /** The connection manager reports something. */
    void tell(ConnectionEventType... types) {
        for (ConnectionEventType type : types) {
            queuePair.connectionEvent(event(type));
        }
    }

    static QueuePairAttributes attributes() {
        return new QueuePairAttributes(DEPTH, DEPTH, 1, 1, false, 1000);
    }

    static ConnectionEvent event(ConnectionEventType type) {
        return new ConnectionEvent(type, 0, 1, 1, NO_DATA);
    }

    static Device device(StubVerbs verbs) throws IOException {
        return Device.open(() -> verbs, InetAddress.getLoopbackAddress(), false);
    }

    void send(long id) throws IOException {
        queuePair.postSend(new SendWorkRequest(1).send(id));
    }

    @Override
    public void established(ConnectionParameters parameters) {
        heard.add("established");
    }

    @Override
    public void connectFailed(IOException cause, ByteBuffer privateData) {
        heard.add("connectFailed: " + cause.getMessage());
    }

    @Override
    public void disconnected(IOException cause) {
        heard.add("disconnected");
    }
}
