package org.nettyrdma.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.net.SocketAddress;
import java.nio.ByteBuffer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.nettyrdma.channel.Rdma;

/** A server whose two groups of event loops have different providers. */
class ForeignRequestTest {

    @ParameterizedTest
    @CsvSource({"iwarp, iwarp", "shm, shm", "iwarp-shm, iwarp"})
    void shouldRefuseARequestOfAnotherProvider(String provider, String named) throws Exception {
        try (VerbsContext context = Rdma.provider(provider).openContext()) {
            QueuePairAttributes attributes = new QueuePairAttributes(1, 1, 0, 0, false, 1);
            String refusal = assertThrows(IllegalArgumentException.class,
                    () -> context.createQueuePair(attributes, null, new Foreign())).getMessage();
            assertEquals("a connection request of another provider cannot be taken up by " + named
                    + ": both event loop groups of a ServerBootstrap must have one provider", refusal);
        }
    }

    private static final class Foreign implements ConnectionRequest {

        @Override
        public SocketAddress localAddress() {
            return null;
        }

        @Override
        public SocketAddress remoteAddress() {
            return null;
        }

        @Override
        public ByteBuffer privateData() {
            return ByteBuffer.allocate(0);
        }

        @Override
        public void reject(ByteBuffer privateData) { }
    }
}
