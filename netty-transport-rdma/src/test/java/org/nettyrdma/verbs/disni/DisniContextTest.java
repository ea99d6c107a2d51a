package org.nettyrdma.verbs.disni;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.nettyrdma.verbs.ConnectionListener;
import org.nettyrdma.verbs.ConnectionRequest;
import org.nettyrdma.verbs.ListenAttributes;

class DisniContextTest {

    /** Everything that is to be given back fails, and is counted. The device has been removed, so the last context closes it. */
    private static final class FailingVerbs extends StubVerbs {

        private static final int DEVICE_FATAL = 8;

        private final Map<String, Integer> attempts = new TreeMap<>();
        private boolean failing;
        private boolean removed;

        private boolean attempt(String step) {
            if (failing) {
                attempts.merge(step, 1, Integer::sum);
                throw new InternalError(step);
            }
            return true;
        }

        @Override
        long[] nextDeviceEvent(long context) {
            boolean first = failing && !removed;
            removed |= first;
            return first ? new long[] {DEVICE_FATAL, 0} : null;
        }

        @Override
        boolean disconnect(long id) {
            return attempt("disconnect");
        }

        @Override
        void destroyId(long id) {
            attempt("identifier");
        }

        @Override
        void destroyCompletionQueue(long completionQueue) {
            attempt("completion queue");
        }

        @Override
        void destroyWakeup(long wakeup) {
            attempt("wakeup");
        }
    }

    private static final ConnectionListener.Handler NOBODY = new ConnectionListener.Handler() {
        @Override
        public void connectionRequested(ConnectionRequest request) {
            // There is none.
        }

        @Override
        public void acceptFailed(Throwable cause) {
            // The device was removed.
        }
    };

    @Test
    void shouldTryEachStepOfACloseThoughTheOthersFail() throws IOException {
        FailingVerbs verbs = new FailingVerbs();
        Device device = StubConnection.device(verbs);
        DisniContext context = new DisniContext(device);
        List<StubConnection> connections = List.of(new StubConnection(context), new StubConnection(context));
        context.listen(new InetSocketAddress(0), 1, new ListenAttributes(5000, 8, 8, 0, true), NOBODY);
        verbs.failing = true;
        assertThrows(IOException.class, () -> device.pollEvents(context));

        Map<String, Integer> once = Map.of("disconnect", connections.size(), "identifier", connections.size() + 2,
                "completion queue", 1, "wakeup", 1); // the listener and the device have an identifier each
        InternalError thrown = assertThrows(InternalError.class, context::close);
        assertEquals(connections.size() + 4 - 1, thrown.getSuppressed().length, "listener, queues, wakeup and device fail, too");
        assertEquals(1, verbs.contextsClosed);
        assertEquals(once, verbs.attempts);
        context.close(); // does nothing
        assertEquals(once, verbs.attempts);
    }
}
