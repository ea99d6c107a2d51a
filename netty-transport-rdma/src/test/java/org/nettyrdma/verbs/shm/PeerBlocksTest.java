package org.nettyrdma.verbs.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nettyrdma.verbs.support.DirectMemory;

/** A peer can name as many processes and blocks as it likes to make files for. */
class PeerBlocksTest {

    private static final int MAX_UNUSED = DirectMemory.isFreedAtOnce() ? 0 : MappedFiles.MAX_UNUSED;
    /** What may be mapped. */
    private static final int MAX_MAPPED = PeerBlocks.MAX_BLOCKS_OF_ALL + MAX_UNUSED;
    /** Those of so many processes exceed the limit for all. */
    private static final int PROCESSES = MAX_MAPPED / PeerBlocks.MAX_BLOCKS + 2;
    private static final int TRUNCATIONS = 300;
    private static final int SIZE = 8192;
    private static final long COLLECTION_NANOS = TimeUnit.SECONDS.toNanos(20);

    @TempDir
    private Path temporary;

    private long mapped() throws IOException {
        try (var lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.filter(line -> line.contains(temporary.toString())).count();
        }
    }

    private ProcessDirectory directory() throws IOException {
        return ProcessDirectory.of(new ShmSettings(temporary.resolve("shm"), Set.of()));
    }

    private void makeBlocks(long instance, int count) throws IOException {
        Path first = directory().file(instance, OwnBlocks.KIND, 1);
        Files.createDirectory(first.getParent());
        Files.write(first, new byte[] {(byte) instance});
        for (int i = 2; i <= count; i++) {
            Files.createLink(directory().file(instance, OwnBlocks.KIND, i), first);
        }
    }

    @Test
    void shouldMapNoMoreThanItsPartOfWhatTheSystemAllows() throws IOException {
        Map<Long, PeerBlocks> all = new HashMap<>();
        makeBlocks(1000, 1);
        PeerBlocks modest = PeerBlocks.acquire(directory(), 1000, all);
        List<PeerBlocks> greedy = new ArrayList<>();
        for (int process = 1; process <= PROCESSES; process++) {
            makeBlocks(process, PeerBlocks.MAX_BLOCKS);
            PeerBlocks blocks = PeerBlocks.acquire(directory(), process, all);
            greedy.add(blocks);
            for (int i = 1; i <= PeerBlocks.MAX_BLOCKS; i++) {
                assertEquals(process, blocks.find(i).get(0));
            }
            assertEquals((byte) 1000, modest.find(1).get(0));
        }
        long mapped = mapped();
        assertTrue(mapped > PeerBlocks.MAX_BLOCKS && mapped <= MAX_MAPPED, mapped + " mappings");
        for (PeerBlocks blocks : greedy) {
            assertEquals(greedy.indexOf(blocks) + 1, blocks.find(1).get(0)); // what was let go is mapped again
            blocks.release();
        }
        modest.release();
        long start = System.nanoTime();
        while (!DirectMemory.isFreedAtOnce() && mapped() > 0 && System.nanoTime() - start < COLLECTION_NANOS) {
            System.gc();
        }
        assertEquals(0, mapped());
        directory().forget();
    }

    @Test
    void shouldMapNoMoreOfAControlFileThanItNeeds() throws IOException {
        Path file = directory().file(OwnControl.KIND, 1);
        try (RandomAccessFile large = new RandomAccessFile(file.toFile(), "rw")) {
            large.setLength(1 << 30);
            large.writeLong(Long.reverseBytes(ControlLayout.MAGIC));
        }
        PeerControl control = new PeerControl(file);
        try (var lines = Files.lines(Path.of("/proc/self/maps"))) {
            String range = lines.filter(line -> line.contains(file.toString())).findFirst().orElseThrow().split(" ")[0];
            String[] ends = range.split("-");
            assertEquals(ControlLayout.FILE_BYTES, Long.parseLong(ends[1], 16) - Long.parseLong(ends[0], 16));
        } finally {
            control.close();
        }
        directory().forget();
    }

    /** JDK 17 tells late of an access that has failed: not while the next file of the peer is open. */
    @Test
    void shouldLeaveNothingOpenOfAPeerThatHasTruncatedABlock() throws IOException {
        Path lost = directory().file(1, OwnBlocks.KIND, 1);
        Path empty = directory().file(1, OwnBlocks.KIND, 2);
        Files.createDirectory(lost.getParent());
        Files.createFile(empty);
        ByteBuffer target = ByteBuffer.allocateDirect(SIZE);
        for (int i = 0; i < TRUNCATIONS; i++) {
            Files.write(lost, new byte[SIZE]);
            PeerBlocks blocks = PeerBlocks.acquire(directory(), 1, new HashMap<>());
            ByteBuffer block = blocks.find(1);
            Files.write(lost, new byte[0]);
            try {
                assertThrows(InternalError.class, () -> {
                    target.put(0, block, 0, SIZE);
                    blocks.find(2);
                });
            } finally {
                blocks.release();
            }
            assertEquals(0, open(empty));
        }
        directory().forget();
    }

    private static long open(Path file) {
        return Stream.of(new File("/proc/self/fd").list()).filter(each -> leadsTo(file, Path.of("/proc/self/fd", each))).count();
    }

    private static boolean leadsTo(Path file, Path link) {
        try {
            return Files.readSymbolicLink(link).equals(file);
        } catch (IOException e) {
            return false; // was that of the list itself
        }
    }
}
