package org.nettyrdma.verbs.shm;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;
import org.nettyrdma.verbs.QueuePair;

/**
 * A peer that writes anything into its control file. The input is a sequence of steps: a byte that says what to write where, and
 * the bytes to write. Real tags and block numbers stand in for some values, since nobody guesses them.
 */
class RingFuzzTest {

    private static final int RECEIVES = 4;
    private static final int RECEIVE_BYTES = 1024;
    private static final int WRITABLE = 64 * 1024;
    private static final int READABLE = 128 * 1024;
    private static final int EXPOSED_BYTES = 256;
    private static final int LOOKED_AT = 256 * 1024;

    @FuzzTest(maxDuration = "3s")
    void shouldEndCleanlyAndTouchNothingElse(byte[] input) throws IOException {
        Path directory = Files.createTempDirectory(Path.of("/dev/shm"), "netty-rdma-fuzz");
        ShmSettings settings = new ShmSettings(directory, Set.of());
        try (ShmSide side = new ShmSide(new ShmProvider(settings))) {
            try (HostileShmPeer peer = new HostileShmPeer(settings, side.listen())) {
                side.accept(RECEIVES);
                int writable = side.queuePair.expose(side.region, WRITABLE, EXPOSED_BYTES, QueuePair.ACCESS_REMOTE_WRITE);
                int readable = side.queuePair.expose(side.region, READABLE, EXPOSED_BYTES, QueuePair.ACCESS_REMOTE_READ);
                side.send(10);
                ByteBuffer in = ByteBuffer.wrap(input);
                while (in.hasRemaining() && !side.ended) {
                    step(peer, in, writable, readable);
                    for (int i = 0; i < 70; i++) {
                        side.context.poll(side, 64);
                    }
                }
                side.queuePair.moveToError();
                side.queuePair.close();
                while (side.context.poll(side, 64) > 0) {
                    continue;
                }
            }
            requireUntouched(side, RECEIVES * RECEIVE_BYTES, WRITABLE);
            requireUntouched(side, WRITABLE + EXPOSED_BYTES, READABLE);
            requireUntouched(side, READABLE, LOOKED_AT);
            assertEquals(0, side.requests.size());
        } finally {
            ProcessDirectory.of(settings).forget();
        }
    }

    private static void step(HostileShmPeer peer, ByteBuffer in, int writable, int readable) {
        int kind = in.get();
        if (kind >= 0) {
            int[] fields = new int[6];
            for (int i = 0; i < fields.length; i++) {
                fields[i] = number(in);
            }
            int tag = (kind & 8) != 0 ? writable : (kind & 16) != 0 ? readable : number(in);
            fields[0] = (kind & 32) != 0 ? fields[0] : peer.block;
            peer.entry(kind & 7, (kind & 64) != 0 ? number(in) : 1, tag, number(in),
                    (kind & 64) != 0 ? number(in) : fields[2], fields);
        } else if (kind > -64) {
            int at = Math.floorMod(number(in) * 4, ControlLayout.RING_OFFSET);
            peer.control.putInt(at, number(in));
        } else {
            int at = Math.floorMod(number(in) * 4, ControlLayout.FILE_BYTES);
            byte[] bytes = new byte[Math.min(in.remaining(), ControlLayout.FILE_BYTES - at)];
            in.get(bytes);
            peer.control.put(at, bytes);
        }
    }

    /** Small numbers are what gets furthest. */
    private static int number(ByteBuffer in) {
        if (!in.hasRemaining()) {
            return 0;
        }
        int first = in.get();
        return first != Byte.MIN_VALUE || in.remaining() < Integer.BYTES ? first : in.getInt();
    }

    private static void requireUntouched(ShmSide side, int start, int end) {
        byte[] bytes = new byte[end - start];
        side.memory.get(start, bytes);
        assertArrayEquals(new byte[end - start], bytes, () -> "between " + start + " and " + end + ": "
                + Arrays.toString(Arrays.copyOf(bytes, 16)));
    }
}
