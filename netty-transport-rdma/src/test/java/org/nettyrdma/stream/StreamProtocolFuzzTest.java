package org.nettyrdma.stream;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.Arrays;

/**
 * Whatever a peer sends and writes, it is refused with a {@link StreamProtocolException}, or it names nothing but what is there:
 * receives that it has used, bytes of the ring that it may write, room that it has told of.
 *
 * <p>The first 40 bytes are the private data. What follows are steps: one byte says what happens, and the bytes behind it with
 * which values.
 */
class StreamProtocolFuzzTest {

    private static final int CREDITS = 5;
    /** Bit of the byte that begins a step: before it the ring is recalled. */
    private static final int RECALL = 0x40;
    private static final int[] ENTRIES = {16, 64, 7, 1 << 20};

    private ByteBuffer in;
    private StreamReceiver receiver;
    private final ArrayDeque<Integer> entries = new ArrayDeque<>();
    private int nextEntry;
    private int unused;

    @FuzzTest(maxDuration = "3s")
    void shouldTakeOrRefuse(byte[] input) {
        in = ByteBuffer.wrap(input);
        entries.clear();
        nextEntry = 0;
        try {
            StreamHello hello = StreamHello.read(in);
            assertArrayEquals(normalized(input), hello.toBytes());
            in.position(StreamHello.BYTES);
            run(hello);
        } catch (StreamProtocolException e) {
            assertTrue(e.getMessage().contains("(limit: "), e.getMessage());
        }
    }

    /** Without what nobody looks at. */
    private static byte[] normalized(byte[] input) {
        byte[] bytes = Arrays.copyOf(input, StreamHello.BYTES);
        boolean own = (bytes[1] & 0x40) != 0 && (bytes[4] != 0 || bytes[5] != StreamMessage.BYTES);
        bytes[1] = (byte) (bytes[1] & 1 | 2 | (own ? 0x40 : 0));
        if (!own) {
            bytes[4] = 0;
            bytes[5] = 0;
        }
        bytes[6] = 0;
        bytes[7] = 0;
        return bytes;
    }

    private void run(StreamHello hello) throws StreamProtocolException {
        receiver = new StreamReceiver(CREDITS, hello.takesDataInMessages());
        publish();
        publish();
        unused = CREDITS;
        SendCredits credits = new SendCredits(hello.credits(), 0);
        ByteBuffer list = ByteBuffer.allocate(TargetList.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        TargetList target = new TargetList(list, hello.first(), hello.order());
        while (in.remaining() > Integer.BYTES) {
            int code = in.get();
            if ((code & RECALL) != 0 && !receiver.isRecalled()) {
                receiver.recall();
            }
            int step = code & 3;
            if (step == 0) {
                take(Math.max(1, in.getInt() & 0xff));
            } else if (step == 1) {
                list.put(in.get() & 0x1f, in.get());
                target.update();
                assertTrue(target.remaining() >= 0 && target.remaining() <= TargetEntry.MAX_LENGTH);
                target.advance(Math.min(target.remaining(), in.getShort() & 0xffff));
            } else {
                arrive(in.getInt(), step == 2 ? StreamMessage.BYTES : in.hasRemaining() ? in.get() & 0xff : 0, credits);
            }
        }
    }

    private void publish() {
        int size = ENTRIES[nextEntry++ % ENTRIES.length];
        receiver.published(size);
        entries.add(size);
    }

    private void arrive(int word, int messageBytes, SendCredits credits) throws StreamProtocolException {
        if (messageBytes < StreamMessage.BYTES) {
            return; // has no word
        }
        long before = receiver.readableBytes();
        boolean finished = receiver.isFinished();
        StreamMessage message = receiver.arrived(word, messageBytes, 3);
        assertEquals(word & ~(message instanceof StreamMessage.Credits ? 0x1fff_0000 : 0), message.encode());
        if (message instanceof StreamMessage.Data data) {
            assertTrue(!finished && unused-- > 0);
            assertEquals(before + data.bytes(), receiver.readableBytes());
        } else if (message instanceof StreamMessage.Credits update) {
            credits.update(update.limit());
            if (credits.isAvailable()) {
                credits.sent();
            }
        } else {
            removeTaken(); // a shutdown or a return ends entries
        }
    }

    private void removeTaken() {
        while (receiver.removeTakenEntry()) {
            entries.remove();
            publish();
        }
    }

    private void take(int most) {
        int bytes = Math.min(most, receiver.oldestBytes());
        if (bytes == 0) {
            return;
        }
        if (receiver.oldestReceive() == StreamReceiver.RING) {
            assertTrue(receiver.oldestOffset() >= 0 && receiver.oldestOffset() + bytes <= entries.getFirst());
        } else {
            assertEquals(3, receiver.oldestReceive());
            assertTrue(receiver.oldestOffset() + bytes <= 255);
        }
        receiver.take(bytes);
        removeTaken();
        if (receiver.isUpdateDue()) {
            int limit = receiver.newLimit();
            assertTrue(limit > 0);
            unused = CREDITS - (receiver.oldestBytes() > 0 ? 1 : 0); // at most; the exact number is the receiver's
        }
    }
}
