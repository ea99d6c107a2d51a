package org.nettyrdma.verbs.support;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.nettyrdma.verbs.CompletionHandler;
import org.nettyrdma.verbs.WorkCompletionStatus;

class DeliveryRingTest {

    private final DeliveryRing deliveries = new DeliveryRing();
    private final List<Long> delivered = new ArrayList<>();
    private final List<String> all = new ArrayList<>();

    private int deliver(int max) {
        return deliveries.deliver((id, status, byteLength, invalidated, tag, vendorError) -> delivered.add(id), max);
    }

    @Test
    void shouldKeepTheOrderWhileItGrows() {
        long next = 0;
        for (int round = 0; round < 100; round++) {
            for (int i = 0; i < 100; i++) {
                deliveries.complete(next++, WorkCompletionStatus.SUCCESS, 0, 0);
            }
            deliver(30);
        }
        deliver(Integer.MAX_VALUE);
        for (int i = 0; i < next; i++) {
            assertEquals(i, delivered.get(i));
        }
        assertTrue(deliveries.isEmpty());
    }

    @Test
    void shouldTellImmediateDataInItsPlace() {
        List<String> told = new ArrayList<>();
        deliveries.complete(1, WorkCompletionStatus.SUCCESS, 0, 0);
        deliveries.completeImmediate(2, 100, 0x81020304);
        deliveries.event(() -> told.add("event"));
        deliveries.completeReceive(3, 7, true, 0x81020304);
        deliveries.deliver(new CompletionHandler() {
            @Override
            public void onCompletion(long id, WorkCompletionStatus status, int byteLength, boolean invalidated, int tag,
                                     int vendorError) {
                told.add(id + " " + status + ' ' + byteLength + ' ' + invalidated);
            }

            @Override
            public void onImmediateData(long id, int byteLength, int immediateData) {
                told.add(id + " " + byteLength + ' ' + Integer.toHexString(immediateData));
            }
        }, 10);
        assertEquals(List.of("1 SUCCESS 0 false", "2 100 81020304", "event", "3 SUCCESS 7 true"), told);
    }

    /** Fills a ring with completions of every kind until it has grown, from some place on. */
    private List<String> addAllKinds(int before) {
        for (int i = 0; i < before; i++) { // so that the oldest entry lies anywhere
            deliveries.event(() -> { });
        }
        deliver(before);
        List<String> expected = new ArrayList<>();
        WorkCompletionStatus[] statuses = WorkCompletionStatus.values();
        for (int i = 0; expected.size() < 700; i++) {
            long id = i % 2 == 0 ? Long.MIN_VALUE + i : Long.MAX_VALUE - i;
            int signed = i % 3 == 0 ? Integer.MIN_VALUE + i : i;
            WorkCompletionStatus status = statuses[i % statuses.length];
            deliveries.complete(id, status, i, signed);
            expected.add(id + " " + status + ' ' + i + " false 0 " + signed);
            deliveries.completeReceive(id, i, i % 5 == 0, -i);
            expected.add(id + " SUCCESS " + i + ' ' + (i % 5 == 0) + ' ' + -i + " 0");
            deliveries.completeShared(signed, id, status, i, i % 5 == 0, -i, ~signed);
            expected.add(signed + ": " + id + ' ' + status + ' ' + i + ' ' + (i % 5 == 0) + ' ' + -i + ' ' + ~signed);
            deliveries.completeImmediate(id, i, signed);
            expected.add(id + " " + i + ' ' + signed);
            String event = "event " + i;
            deliveries.event(() -> all.add(event));
            expected.add(event);
        }
        return expected;
    }

    @Test
    void shouldTellEverythingAsItWasAddedWhereverTheRingGrows() {
        CompletionHandler handler = new CompletionHandler() {
            @Override
            public void onCompletion(long id, WorkCompletionStatus status, int byteLength, boolean invalidated, int tag,
                                     int vendorError) {
                all.add(id + " " + status + ' ' + byteLength + ' ' + invalidated + ' ' + tag + ' ' + vendorError);
            }

            @Override
            public void onImmediateData(long id, int byteLength, int immediateData) {
                all.add(id + " " + byteLength + ' ' + immediateData);
            }

            @Override
            public void onSharedReceive(int number, long id, WorkCompletionStatus status, int byteLength, boolean invalidated,
                                        int tag, int vendorError) {
                all.add(number + ": " + id + ' ' + status + ' ' + byteLength + ' ' + invalidated + ' ' + tag + ' ' + vendorError);
            }
        };
        for (int before : new int[] {0, 1, 100, 255}) {
            all.clear();
            List<String> expected = addAllKinds(before);
            assertEquals(expected.size(), deliveries.deliver(handler, Integer.MAX_VALUE));
            assertEquals(expected, all);
        }
    }

    @Test
    void shouldFailImmediateDataThatIsNotExpected() {
        List<WorkCompletionStatus> told = new ArrayList<>();
        deliveries.completeImmediate(2, 100, 5);
        deliveries.deliver((id, status, byteLength, invalidated, tag, vendorError) -> {
            assertEquals(2, id);
            assertEquals(0, byteLength);
            told.add(status);
        }, 10);
        assertEquals(List.of(WorkCompletionStatus.BAD_RESPONSE_ERROR), told);
    }

    @Test
    void shouldNotKeepTheRoomOfABurst() {
        int before = deliveries.capacity();
        for (int burst = 0; burst < 2; burst++) {
            for (int i = 0; i < 100_000; i++) {
                deliveries.complete(i, WorkCompletionStatus.WORK_REQUEST_FLUSHED, 0, 0);
            }
            assertTrue(deliveries.capacity() >= 100_000);
            assertEquals(100_000, deliver(200_000));
            assertEquals(before, deliveries.capacity());
        }
        assertEquals(200_000, delivered.size());
    }

    /** Without a garbage collector, so that it is known which allocation fails. */
    @Test
    void shouldStayAsItIsWhereThereIsNoMemoryForASmallerRing() throws Exception {
        Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xms32m",
                "-Xmx32m", "-XX:+UnlockExperimentalVMOptions", "-XX:+UseEpsilonGC", "-XX:-ExitOnOutOfMemoryError",
                "-XX:-UseTLAB", "-Xint", "-cp", System.getProperty("java.class.path"), Program.class.getName())
                .redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(process.waitFor(60, TimeUnit.SECONDS));
        assumeFalse(output.contains("Unrecognized VM option"), output);
        assertEquals(0, process.exitValue(), output);
    }

    /** Leaves room for one of the two arrays of a ring. Behind that nothing may be allocated. */
    static final class Program {

        private static final int BURST = 1 << 15;
        private static final int MORE = 1000;
        private static final int WORDS_BYTES = 256 * 4 * Long.BYTES + 16;
        private static final int EVENTS_BYTES = 256 * 4;
        private static long next;
        private static boolean inOrder = true;

        public static void main(String[] arguments) {
            DeliveryRing ring = new DeliveryRing();
            CompletionHandler handler = (id, status, byteLength, invalidated, tag, vendorError) -> inOrder &= id == next++;
            run(ring, handler, 0, new OutOfMemoryError()); // so that all classes are there
            add(ring, MORE, BURST);
            byte[] rest = new byte[(int) Runtime.getRuntime().freeMemory() - WORDS_BYTES - EVENTS_BYTES];
            boolean hasFailed = run(ring, handler, BURST, null);
            Runtime.getRuntime().halt(hasFailed && inOrder && next == BURST + MORE - 1 && rest.length > 0 ? 0 : 2);
        }

        /** Delivers all, and then more than a small ring has room for; tells whether the memory for a small one was missing. */
        private static boolean run(DeliveryRing ring, CompletionHandler handler, int nextId, OutOfMemoryError failure) {
            boolean hasFailed = false;
            try {
                ring.deliver(handler, Integer.MAX_VALUE);
                if (failure != null) {
                    throw failure;
                }
            } catch (OutOfMemoryError e) {
                hasFailed = true;
            }
            add(ring, nextId, nextId + MORE);
            ring.deliver(handler, MORE - 1); // not all, so that no smaller ring is asked for
            return hasFailed;
        }

        private static void add(DeliveryRing ring, int from, int to) {
            for (int id = from; id < to; id++) {
                ring.complete(id, WorkCompletionStatus.SUCCESS, 0, 0);
            }
        }
    }
}
