package org.nettyrdma.verbs.support;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.testing.Jvm;
import org.nettyrdma.verbs.CompletionHandler;
import org.nettyrdma.verbs.WorkCompletionStatus;

/** A JVM of its own with so little heap that there is none for a further completion. */
public final class ShortHeap {

    private static final long FILLER = -1;

    private ShortHeap() {
    }

    /** Runs the main method of a class there; fails if that does. */
    public static void run(Class<?> program, String... arguments) throws Exception {
        Process process = new ProcessBuilder(Jvm.command(List.of("-Xmx32m", "-XX:+UseSerialGC"), program, arguments))
                .redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(process.waitFor(60, TimeUnit.SECONDS));
        assertEquals(0, process.exitValue(), output);
    }

    /** Does something while there is no heap for the smallest object. */
    public static void whileFull(Runnable step) {
        whileFullBut(0, step);
    }

    /** Does something while there is heap for so many bytes, of small objects for instance, but for no array as long. */
    public static void whileFullBut(int bytes, Runnable step) {
        byte[] rest = new byte[bytes];
        Object[] filler = new Object[100_000];
        int count = 0;
        for (int size = 1 << 20; size > 0; size /= 2) {
            try {
                while (true) {
                    filler[count] = new byte[size];
                    count++;
                }
            } catch (OutOfMemoryError e) {
                continue; // with smaller ones
            }
        }
        rest = null;
        step.run();
        filler[0] = rest; // so that it is in use until here
    }

    /** Does something that completes work requests while there is no memory for that, and once more; returns their ids. */
    public static List<Long> completions(DeliveryRing deliveries, Runnable completing) {
        assertThrows(OutOfMemoryError.class, () -> {
            while (true) {
                deliveries.complete(FILLER, WorkCompletionStatus.SUCCESS, 0, 0);
            }
        });
        assertThrows(OutOfMemoryError.class, completing::run);
        List<Long> ids = new ArrayList<>();
        take(deliveries, ids);
        completing.run();
        take(deliveries, ids);
        return ids;
    }

    private static void take(DeliveryRing deliveries, List<Long> ids) {
        deliveries.deliver(new CompletionHandler() {
            @Override
            public void onCompletion(long id, WorkCompletionStatus status, int byteLength, boolean invalidated, int tag,
                                     int vendorError) {
                if (id != FILLER) {
                    ids.add(id);
                }
            }

            @Override
            public void onSharedReceive(int queuePairNumber, long id, WorkCompletionStatus status, int byteLength,
                                        boolean invalidated, int tag, int vendorError) {
                ids.add(id);
            }

            @Override
            public void onImmediateData(long id, int byteLength, int immediateData) {
                ids.add(id);
            }
        }, Integer.MAX_VALUE);
    }
}
