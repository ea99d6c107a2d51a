package org.nettyrdma.verbs.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.testing.Jvm;

/**
 * A process of the same user truncates files of this one. Each case has a JVM of its own: OpenJDK 17 ends it where such an error
 * meets the unmapping of a file.
 */
class TruncatedOwnFilesTest {

    private static final int RING_ONLY_BYTES = ControlLayout.RING_OFFSET;

    /** What is truncated, and the first that this side does afterwards. */
    enum Case {
        CONTROL_THEN_SEND, RING_THEN_SEND, CONTROL_THEN_RECEIVE, CONTROL_THEN_WAKE, CONTROL_THEN_CLOSE, BLOCK_THEN_RECEIVE,
        BLOCK_THEN_FREE
    }

    @TempDir
    private Path temporary;

    @ParameterizedTest
    @EnumSource
    void shouldEndTheConnectionAndNothingElse(Case which) throws Exception {
        Path printed = temporary.resolve("printed");
        Process process = new ProcessBuilder(Jvm.command(List.of("-Xmx64m"), TruncatedOwnFilesTest.class, temporary.toString(),
                which.name())).redirectErrorStream(true).redirectOutput(printed.toFile()).start();
        boolean hasEnded = process.waitFor(ShmSide.TIMEOUT_SECONDS, TimeUnit.SECONDS);
        process.destroyForcibly();
        String output = Files.readString(printed);
        assertTrue(hasEnded, output);
        assertEquals(0, process.exitValue(), output);
        assertTrue(output.endsWith("alive"), output);
    }

    public static void main(String[] arguments) throws IOException {
        Path directory = Path.of(arguments[0]).resolve("shm");
        ShmSettings settings = new ShmSettings(directory, Set.of());
        ShmSide side = new ShmSide(new ShmProvider(settings));
        try (HostileShmPeer peer = new HostileShmPeer(settings, side.listen())) {
            side.accept(8);
            if (Case.valueOf(arguments[1]) == Case.BLOCK_THEN_FREE) {
                freeTruncated(side, directory);
            } else {
                int sends = endTruncated(side, peer, directory, Case.valueOf(arguments[1]));
                assertEquals(1, side.ends);
                assertEquals(8 + sends, side.flushed + side.sent);
                peer.awaitEndOfSocket();
            }
        }
        side.close();
        System.out.print("alive");
    }

    /** Returns how many sends were posted. */
    private static int endTruncated(ShmSide side, HostileShmPeer peer, Path directory, Case which) throws IOException {
        if (which == Case.CONTROL_THEN_WAKE) {
            while (side.context.poll(side, 64) > 0) {
                continue;
            }
            side.context.await(1_000_000); // before that all connections fall asleep
        }
        char kind = which == Case.BLOCK_THEN_RECEIVE ? OwnBlocks.KIND : OwnControl.KIND;
        Path block = ProcessDirectory.of(new ShmSettings(directory, Set.of())).file(OwnBlocks.KIND, peer.block);
        truncate(directory, kind, which == Case.RING_THEN_SEND ? RING_ONLY_BYTES : 0, peer.path(), block);
        boolean sends = which == Case.CONTROL_THEN_SEND || which == Case.RING_THEN_SEND || which == Case.CONTROL_THEN_WAKE;
        if (sends) {
            side.send(10);
        } else if (which == Case.CONTROL_THEN_CLOSE) {
            side.queuePair.moveToError();
        } else {
            peer.entry(1, 1, 0, 0, 8, peer.block, 0, 8);
        }
        side.awaitTrue(() -> side.ended);
        side.context.poll(side, 64);
        if (which != Case.CONTROL_THEN_CLOSE) {
            assertInstanceOf(IOException.class, side.cause);
            assertTrue(side.cause.getMessage().contains("truncated a file"), side.cause.getMessage());
        }
        return sends ? 1 : 0;
    }

    /** The first round loads what the second would otherwise load with the error pending. */
    private static void freeTruncated(ShmSide side, Path directory) throws IOException {
        for (int i = 0; i < 2; i++) {
            ByteBuffer memory = side.provider.allocate(4096);
            if (i == 1) {
                truncate(directory, OwnBlocks.KIND, 0);
            }
            try {
                memory.put(0, (byte) 1);
            } catch (InternalError e) {
                // Only some versions throw it here.
            }
            side.provider.free(memory);
        }
    }

    /** Truncates the files of a kind but for some. */
    private static void truncate(Path directory, char kind, int bytes, Path... spared) throws IOException {
        try (var files = Files.walk(directory)) {
            for (Path file : files.filter(each -> each.getFileName().toString().matches(kind + "[0-9]+")
                    && !Set.of(spared).contains(each)).toList()) {
                try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                    channel.truncate(bytes);
                }
            }
        }
    }
}
