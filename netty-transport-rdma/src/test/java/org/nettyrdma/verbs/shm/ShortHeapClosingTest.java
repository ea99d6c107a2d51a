package org.nettyrdma.verbs.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.verbs.VerbsProvider;
import org.nettyrdma.verbs.WorkCompletionStatus;
import org.nettyrdma.verbs.support.DeliveryRing;
import org.nettyrdma.verbs.support.ShortHeap;

/** What becomes of the connections of a context that is closed while there is no memory to end any of them in order. */
class ShortHeapClosingTest {

    @ParameterizedTest
    @ValueSource(strings = {"shm", "iwarp-shm"})
    void shouldTellThePeerOfEachConnection(String provider, @TempDir Path directory) throws Exception {
        ShortHeap.run(ShortHeapClosingTest.class, provider, directory.resolve("shm").toString());
    }

    public static void main(String[] arguments) throws IOException {
        ShmSettings settings = new ShmSettings(Path.of(arguments[1]), Set.of());
        VerbsProvider provider = arguments[0].equals("shm") ? new ShmProvider(settings) : new SameHostProvider(settings);
        ShmSide client = new ShmSide(provider);
        List<ShmSide> servers = List.of(new ShmSide(provider), new ShmSide(provider), new ShmSide(provider));
        for (ShmSide server : servers) {
            client.connect(server.listen(), 0);
            while (!server.established) {
                server.context.poll(server, 1);
                client.context.poll(client, 1);
                if (!server.requests.isEmpty()) {
                    server.accept(0);
                }
            }
            client.awaitTrue(() -> client.established);
            assertEquals("shm", client.queuePair.carrier());
        }
        DeliveryRing deliveries = (client.context instanceof SameHostContext both ? both.shm() : (ShmContext) client.context)
                .parts().deliveries();
        assertThrows(OutOfMemoryError.class, () -> {
            while (true) {
                deliveries.complete(1, WorkCompletionStatus.SUCCESS, 0, 0);
            }
        });
        assertThrows(OutOfMemoryError.class, client.context::close);
        for (ShmSide server : servers) {
            server.awaitTrue(() -> server.ended);
            assertNull(server.cause, "an end in order");
        }
        servers.forEach(ShmSide::close);
    }
}
