package org.nettyrdma.stream;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/**
 * However messages cross, a ring that is recalled at any time brings the same stream, and nothing is written to a block that was
 * given back. Between the two sides are queues, as long as the order of steps makes them.
 */
class StreamRecallPropertyTest {

    private static final int CREDITS = 6;
    private static final int MOST_BEHIND = 20;
    private static final int STEPS = 6;
    private static final int MOST_STEPS = 200_000;
    /** Who recalls whenever there is room is sent nothing there. */
    private static final int MOST_RECALLS = 50;

    /** What arrives at the other side, in order. */
    private interface Arrival {
        void arrive() throws StreamProtocolException;
    }

    @Provide
    Arbitrary<List<Integer>> sizes() {
        return Arbitraries.integers().between(1, 60).list().ofMinSize(1).ofMaxSize(40);
    }

    @Provide
    Arbitrary<List<Integer>> orders() {
        return Arbitraries.integers().between(0, STEPS - 1).list().ofMinSize(1).ofMaxSize(100);
    }

    @Property
    void shouldGiveTheSameStream(@ForAll("sizes") List<Integer> cuts, @ForAll("sizes") List<Integer> takes,
                                 @ForAll("sizes") List<Integer> entries, @ForAll("orders") List<Integer> order) throws Exception {
        Ends ends = new Ends(cuts, takes, entries);
        int steps = 0;
        for (int step : order) {
            ends.step(step, steps++);
        }
        while (!ends.isDone()) {
            assertTrue(steps < MOST_STEPS, "nothing moves any more");
            ends.step(order.get(steps % order.size()), steps); // recalls go on, too
            ends.step(steps % STEPS, steps++);
        }
        assertArrayEquals(ends.sent, ends.received.toByteArray());
        ends.finish();
    }

    /** The two sides. */
    private static final class Ends {

        private final List<Integer> cuts;
        private final List<Integer> takes;
        private final List<Integer> sizes;
        private final byte[] sent = new byte[1500];
        private final ByteArrayOutputStream received = new ByteArrayOutputStream();
        private final ArrayDeque<Arrival> toReceiver = new ArrayDeque<>();
        private final ArrayDeque<Arrival> toSender = new ArrayDeque<>();

        private final StreamReceiver receiver = new StreamReceiver(CREDITS, true);
        private final Map<Integer, byte[]> exposed = new HashMap<>(); // by key
        private final ArrayDeque<Integer> blocks = new ArrayDeque<>();
        private final List<byte[]> receives = new ArrayList<>();
        private int published;
        private int entriesToTell;
        private int nextEntry;
        private int recalls;

        private final ByteBuffer list = ByteBuffer.allocate(TargetList.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        private final SendCredits credits = new SendCredits(CREDITS, 0);
        private final TargetList target;
        private int at;
        private boolean asked;

        Ends(List<Integer> cuts, List<Integer> takes, List<Integer> sizes) {
            this.cuts = cuts;
            this.takes = takes;
            this.sizes = sizes;
            for (int i = 0; i < sent.length; i++) {
                sent[i] = (byte) (i * 31 >> 3);
            }
            publish();
            target = new TargetList(list, entry(blocks.getFirst()), ByteOrder.LITTLE_ENDIAN);
            nextEntry = 1;
            entriesToTell = 0;
            publish();
            tell();
        }

        void step(int what, int number) throws StreamProtocolException {
            switch (what) {
                case 0 -> send(cuts.get(number % cuts.size()));
                case 1 -> arrive(toReceiver);
                case 2 -> take(takes.get(number % takes.size()));
                case 3 -> arrive(toSender);
                case 4 -> recall();
                default -> answer();
            }
        }

        boolean isDone() {
            return received.size() == sent.length;
        }

        /** Everything is given back and told anew once more, so that nothing of the recalls is left over. */
        void finish() throws StreamProtocolException {
            while (!toReceiver.isEmpty() || !toSender.isEmpty() || asked) {
                arrive(toReceiver);
                arrive(toSender);
                answer();
            }
            assertTrue(!receiver.isRecalled() && entriesToTell == 0);
            assertTrue(target.remaining() > 0);
            assertEquals(TargetList.ENTRIES, exposed.size());
        }

        private static void arrive(ArrayDeque<Arrival> queue) throws StreamProtocolException {
            if (!queue.isEmpty()) {
                queue.remove().arrive();
            }
        }

        // --- The side that sends

        private void send(int cut) {
            boolean behind = cut % 3 == 0;
            int size = Math.min(Math.min(cut, sent.length - at), behind ? MOST_BEHIND : target.remaining());
            if (size == 0 || !credits.isAvailable()) {
                return;
            }
            byte[] data = Arrays.copyOfRange(sent, at, at + size);
            int word = new StreamMessage.Data(size).encode();
            if (behind) {
                toReceiver.add(() -> {
                    receives.add(data);
                    receiver.arrived(word, StreamMessage.BYTES + size, receives.size() - 1);
                });
            } else {
                int key = target.key();
                int offset = (int) target.address();
                target.advance(size);
                toReceiver.add(() -> {
                    byte[] block = exposed.get(key);
                    assertNotNull(block, "a write to a block that was given back");
                    System.arraycopy(data, 0, block, offset, size);
                    receiver.arrived(word, StreamMessage.BYTES, 0);
                });
            }
            credits.sent();
            at += size;
        }

        private void answer() {
            if (asked) {
                asked = false;
                target.giveUp();
                toReceiver.add(() -> {
                    receiver.arrived(StreamMessage.Control.RETURN.encode(), StreamMessage.BYTES, 0);
                    removeTaken();
                });
            }
        }

        // --- The side that receives

        private void publish() {
            int size = sizes.get(published % sizes.size());
            receiver.published(size);
            exposed.put(published, new byte[size]);
            blocks.add(published++);
            entriesToTell++;
        }

        private TargetEntry entry(int key) {
            return new TargetEntry(0, key, exposed.get(key).length);
        }

        private void recall() {
            if (!receiver.isRecalled() && entriesToTell == 0 && recalls < MOST_RECALLS) {
                recalls++;
                receiver.recall();
                toSender.add(() -> asked = true);
            }
        }

        private void take(int most) throws StreamProtocolException {
            int size = Math.min(most, receiver.oldestBytes());
            if (size == 0) {
                return;
            }
            if (receiver.oldestReceive() == StreamReceiver.RING) {
                received.write(exposed.get(blocks.getFirst()), receiver.oldestOffset(), size);
            } else {
                received.write(receives.get(receiver.oldestReceive()), receiver.oldestOffset() - StreamMessage.BYTES, size);
            }
            receiver.take(size);
            removeTaken();
        }

        private void removeTaken() {
            while (receiver.removeTakenEntry()) {
                exposed.remove(blocks.remove());
                publish();
            }
            tell();
            if (receiver.isUpdateDue()) {
                int limit = receiver.newLimit();
                toSender.add(() -> credits.update(limit & StreamMessage.LIMIT_MASK));
            }
        }

        private void tell() {
            while (entriesToTell > 0 && !receiver.isRecalled()) {
                TargetEntry entry = entry(entriesToTell == 1 ? blocks.getLast() : blocks.getFirst());
                int place = nextEntry * TargetEntry.BYTES;
                int limit = receiver.newLimit();
                toSender.add(() -> {
                    entry.write(list, place, ByteOrder.LITTLE_ENDIAN);
                    credits.update(limit & StreamMessage.LIMIT_MASK);
                    target.update();
                });
                nextEntry = 1 - nextEntry;
                entriesToTell--;
            }
        }
    }
}
