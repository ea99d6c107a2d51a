package org.nettyrdma.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.nettyrdma.verbs.CompletionHandler;
import org.nettyrdma.verbs.QueuePair;

/** How a context polls, sleeps and is woken. A part of {@link VerbsContract}. */
public abstract class VerbsPollingContract extends VerbsFixture {

    @Test
    void shouldDeliverNoMoreThanAskedFor() throws IOException {
        connect();
        for (int i = 0; i < 4; i++) {
            client.queuePair.postSend(client.work().send(i).addElement(client.region, 0, 1));
        }
        client.queuePair.flush();
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
        while (server.completions.size() < 4) {
            int before = server.completions.size();
            server.context.poll(server, 1);
            assertTrue(server.completions.size() - before <= 1);
            client.poll();
            assertTrue(System.nanoTime() - deadlineNanos < 0);
        }
    }

    @Test
    void shouldKeepEventsWhenTheHandlerThrows() throws IOException {
        connect();
        for (int i = 0; i < 4; i++) {
            client.queuePair.postSend(client.work().send(i).addElement(client.region, 0, 1));
        }
        client.queuePair.flush();
        int[] thrown = {0};
        CompletionHandler failing = (id, status, byteLength, invalidated, tag, vendorError) -> {
            thrown[0]++;
            throw new IllegalStateException("handler is broken");
        };
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
        while (thrown[0] == 0) {
            try {
                server.context.poll(failing, 64);
            } catch (IllegalStateException e) {
                assertEquals("handler is broken", e.getMessage());
            }
            client.poll();
            assertTrue(System.nanoTime() - deadlineNanos < 0);
        }
        pumpUntil(() -> server.completions.size() == 3);
        assertEquals(1, server.completions.remove().id());
    }

    /** Each message is answered from the call that tells of it. */
    @Test
    void shouldTakeWorkInsideOfACompletion() throws IOException {
        connect();
        List<IOException> failures = new ArrayList<>();
        CompletionHandler answering = (id, status, byteLength, invalidated, tag, vendorError) -> {
            if (id < QUEUE_DEPTH) {
                try {
                    server.postReceive((int) id);
                    server.post(server.work().send(100).addElement(server.region, 0, 1));
                } catch (IOException e) {
                    failures.add(e);
                }
            }
        };
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
        for (int i = 0; i < 20; i++) {
            client.post(client.work().send(200).addElement(client.region, 0, 1));
            int answers = i + 1;
            while (client.completions.stream().filter(completion -> completion.id() < QUEUE_DEPTH).count() < answers) {
                client.poll();
                server.context.poll(answering, 64);
                assertTrue(System.nanoTime() - deadlineNanos < 0);
            }
            client.postReceive(i % QUEUE_DEPTH);
        }
        assertEquals(List.of(), failures);
    }

    @Test
    void shouldSleepNoLongerThanAsked() throws IOException {
        long startNanos = System.nanoTime();
        client.context.await(TimeUnit.MILLISECONDS.toNanos(20));
        assertTrue(System.nanoTime() - startNanos < TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS));
        assertEquals(0, client.poll());
    }

    @Test
    void shouldCountAWakeUpThatCameBefore() throws IOException {
        client.context.wakeup();
        long startNanos = System.nanoTime();
        client.context.await(TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS));
        assertTrue(System.nanoTime() - startNanos < TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS) / 2);
    }

    @Test
    void shouldBeWokenByAnotherThread() throws Exception {
        for (int i = 0; i < 50; i++) {
            CountDownLatch ready = new CountDownLatch(1);
            Thread waker = new Thread(() -> {
                ready.countDown();
                client.context.wakeup();
            });
            waker.start();
            ready.await();
            client.context.await(-1);
            waker.join();
            client.poll();
        }
    }

    @Test
    void shouldBeWokenByAMessage() throws Exception {
        connect();
        Thread sender = new Thread(() -> {
            try {
                client.post(client.work().send(1).addElement(client.region, 0, 5));
                while (client.completions.isEmpty()) {
                    client.poll();
                }
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
        sender.start();
        while (server.completions.isEmpty()) {
            if (server.poll() == 0) {
                server.context.await(-1);
            }
        }
        while (sender.isAlive()) {
            server.poll(); // by which a provider may tell the sender, who may sleep, that its message was taken
        }
        assertEquals(5, server.completions.remove().byteLength());
    }

    @Test
    void shouldReceiveWhileOwnWorkCompletesAllTheTime() throws IOException {
        connect();
        int tag = client.queuePair.expose(client.region, 0, 64, QueuePair.ACCESS_REMOTE_WRITE);
        long offset = client.queuePair.remoteOffset(tag);
        client.post(client.work().send(1).addElement(client.region, 0, 7));
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
        int received = -1;
        boolean posted = false;
        while (received < 0) {
            if (!posted) {
                server.post(server.work().write(1000, tag, offset).addElement(server.region, 0, 8));
                posted = true;
            }
            server.poll();
            client.poll();
            while (received < 0 && !server.completions.isEmpty()) {
                VerbsSide.Completion completion = server.completions.remove();
                if (completion.id() == 1000) {
                    posted = false;
                } else {
                    received = completion.byteLength();
                }
            }
            assertTrue(System.nanoTime() - deadlineNanos < 0);
        }
        assertEquals(7, received);
    }
}
