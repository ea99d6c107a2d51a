package org.nettyrdma.verbs.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.SocketAddress;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Both ends fall asleep as soon as there is nothing to do, without a time limit: a wake-up that is lost ends the test. How often
 * is the system property {@code shm.sleeps}.
 */
class SleepTest {

    private static final int ROUNDS = Integer.getInteger("shm.sleeps", 20_000);

    /** The second number is how often an end polls in vain before it sleeps, so that the two race at different points. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 7, 50})
    void shouldLoseNoWakeUp(int pollsBeforeSleep) throws Exception {
        ShmProvider provider = new ShmProvider();
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try (ShmSide server = new ShmSide(provider); ShmSide client = new ShmSide(provider)) {
            SocketAddress address = server.listen();
            client.connect(address, 8);
            client.context.poll(client, 64);
            server.accept(8);
            client.awaitTrue(() -> client.established);
            Future<?> other = threads.submit(() -> answer(server, pollsBeforeSleep));
            Future<?> asking = threads.submit(() -> {
                for (int i = 0; i < ROUNDS; i++) {
                    client.send(64);
                    int expected = i + 1;
                    while (client.received < expected || client.sent < expected) {
                        pollOrSleep(client, pollsBeforeSleep);
                    }
                }
                return null;
            });
            asking.get(10, TimeUnit.MINUTES);
            other.get(1, TimeUnit.MINUTES);
            assertEquals(ROUNDS, server.received);
            assertTrue(!client.ended && !server.ended);
        } finally {
            threads.shutdownNow();
        }
    }

    private static Void answer(ShmSide server, int pollsBeforeSleep) throws IOException {
        for (int answered = 0; answered < ROUNDS;) {
            if (answered < server.received) {
                server.send(64);
                answered++;
            } else {
                pollOrSleep(server, pollsBeforeSleep);
            }
        }
        return null;
    }

    private static void pollOrSleep(ShmSide side, int polls) throws IOException {
        for (int i = 0; i <= polls; i++) {
            if (side.context.poll(side, 64) > 0) {
                return;
            }
        }
        side.context.await(-1);
    }

    /** Who has nothing left to do need not poll once more before it sleeps, unless there is memory of a peer to look at. */
    @Test
    void shouldBeAwaitedUnpolledOnlyWhileAllConnectionsSleep() throws Exception {
        ShmProvider provider = new ShmProvider();
        try (ShmSide server = new ShmSide(provider); ShmSide client = new ShmSide(provider)) {
            assertTrue(client.context.canAwaitUnpolled());
            client.connect(server.listen(), 0);
            server.accept(1);
            client.awaitTrue(() -> client.established);
            assertFalse(client.context.canAwaitUnpolled());
            while (!client.context.canAwaitUnpolled()) {
                client.context.await(1);
                client.context.poll(client, 64);
            }
            client.send(10);
            assertFalse(client.context.canAwaitUnpolled());
        }
    }

    @Test
    void shouldSendNoWakeUpsToAPeerThatIsAwake() throws Exception {
        ShmProvider provider = new ShmProvider();
        try (ShmSide server = new ShmSide(provider); ShmSide client = new ShmSide(provider)) {
            client.connect(server.listen(), 8);
            client.context.poll(client, 64);
            server.accept(8);
            client.awaitTrue(() -> client.established);
            client.send(64);
            server.awaitTrue(() -> server.received == 1);
            client.awaitTrue(() -> client.sent == 1);
            long before = provider.statistics().wakeUpsSent();
            for (int i = 2; i < 1000; i++) {
                client.send(64);
                while (server.received < i || client.sent < i) {
                    server.context.poll(server, 64);
                    client.context.poll(client, 64);
                }
            }
            assertEquals(before, provider.statistics().wakeUpsSent());
        }
    }
}
