package org.nettyrdma.verbs.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nettyrdma.testing.Jvm;

/**
 * A process that is killed at any point: the other end of its connection ends with a cause, and no file stays behind. How many
 * processes are killed is the system property {@code shm.kills}.
 */
class KilledProcessTest {

    private static final int KILLS = Integer.getInteger("shm.kills", 4);
    private static final int LONGEST_LIFE_MILLIS = 40;

    @TempDir
    private Path temporary;

    @Test
    void shouldNoticeTheDeathAndLeaveNoFile() throws Exception {
        Path directory = temporary.resolve("shm");
        long seed = System.nanoTime();
        Random random = new Random(seed);
        try (ShmSide side = new ShmSide(new ShmProvider(new ShmSettings(directory, Set.of())))) {
            SocketAddress address = side.listen();
            List<Path> before = files(directory);
            for (int i = 0; i < KILLS; i++) {
                killOne(side, directory, address, i % 2 == 0, random.nextInt(LONGEST_LIFE_MILLIS));
                long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(ShmSide.TIMEOUT_SECONDS);
                while (!files(directory).equals(before)) {
                    side.context.poll(side, 64);
                    side.context.await(10_000_000);
                    assertTrue(System.nanoTime() - deadlineNanos < 0, "seed " + seed + ", kill " + i + ": " + files(directory));
                }
            }
        }
    }

    /** Another thread may be removing some of them meanwhile. */
    private static List<Path> files(Path directory) throws IOException {
        while (true) {
            try (var files = Files.walk(directory)) {
                return files.sorted().toList();
            } catch (UncheckedIOException e) {
                if (!(e.getCause() instanceof NoSuchFileException)) {
                    throw e;
                }
            }
        }
    }

    private static void killOne(ShmSide side, Path directory, SocketAddress address, boolean asks, int lifeMillis)
            throws Exception {
        Process process = new ProcessBuilder(Jvm.command(List.of("-Xmx64m", "-XX:TieredStopAtLevel=1"), KilledProcessTest.class,
                directory.toString(), asks ? Integer.toString(((InetSocketAddress) address).getPort()) : "listen"))
                .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try (BufferedReader output = new BufferedReader(new InputStreamReader(process.getInputStream(),
                StandardCharsets.US_ASCII))) {
            String port = output.readLine();
            assertNotNull(port, "the process has not started");
            if (asks) {
                side.accept(8);
            } else {
                side.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(port)), 8);
            }
            long endNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(lifeMillis);
            exchange(side, endNanos);
            process.destroyForcibly();
            exchange(side, Long.MAX_VALUE);
            assertNotNull(side.cause);
            process.waitFor();
        } finally {
            process.destroyForcibly();
        }
        side.queuePair.close();
        assertEquals(0, side.provider.statistics().violations());
    }

    /** Sends now and then, until the time is over or the connection has ended. */
    private static void exchange(ShmSide side, long endNanos) throws IOException {
        int sent = side.sent;
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(ShmSide.TIMEOUT_SECONDS);
        while (!side.ended && (endNanos == Long.MAX_VALUE || System.nanoTime() - endNanos < 0)) {
            if (side.context.poll(side, 64) == 0) {
                side.context.await(1_000_000);
            }
            if (side.established && !side.ended && side.sent == sent) {
                side.send(1000);
                sent++;
            }
            assertTrue(System.nanoTime() - deadlineNanos < 0, "the death was not noticed");
        }
    }

    /** The process that is killed: sends as fast as it can. */
    public static void main(String[] arguments) throws IOException {
        ShmSide side = new ShmSide(new ShmProvider(new ShmSettings(Path.of(arguments[0]), Set.of())));
        if (arguments[1].equals("listen")) {
            System.out.println(((InetSocketAddress) side.listen()).getPort());
            side.accept(8);
        } else {
            System.out.println(0);
            side.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(arguments[1])), 8);
        }
        side.awaitTrue(() -> side.established);
        for (int i = 1; ; i++) {
            side.send(1000);
            int expected = i;
            side.awaitTrue(() -> side.sent == expected);
        }
    }
}
