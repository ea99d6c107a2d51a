package org.nettyrdma.stream;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/**
 * Any stream, cut into messages of any sizes, some in the ring and some behind their message, taken in pieces of any sizes, with
 * entries of any sizes, is the same stream at the other end. Both ends keep the rules by the classes of this package; the memory
 * between them is arrays.
 */
class StreamReceiverPropertyTest {

    private static final int CREDITS = 6;
    private static final int MOST_BEHIND = 20;

    private final ArrayDeque<byte[]> blocks = new ArrayDeque<>();
    private final byte[][] receives = new byte[1 << 16][];

    @Provide
    Arbitrary<List<Integer>> sizes() {
        return Arbitraries.integers().between(1, 60).list().ofMinSize(1).ofMaxSize(40);
    }

    @Property
    void shouldGiveTheSameStream(@ForAll("sizes") List<Integer> cuts, @ForAll("sizes") List<Integer> takes,
                                 @ForAll("sizes") List<Integer> entries, @ForAll boolean bigEndian,
                                 @ForAll List<Boolean> order) throws Exception {
        blocks.clear();
        byte[] sent = new byte[1500];
        for (int i = 0; i < sent.length; i++) {
            sent[i] = (byte) (i * 31 >> 3);
        }
        ByteOrder byteOrder = bigEndian ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
        ByteBuffer list = ByteBuffer.allocate(TargetList.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        StreamReceiver receiver = new StreamReceiver(CREDITS, true);
        TargetList target = new TargetList(list, publish(receiver, entries, 0), byteOrder);
        publish(receiver, entries, 1).write(list, TargetEntry.BYTES, byteOrder);
        target.update();
        SendCredits credits = new SendCredits(CREDITS, 0);
        ByteArrayOutputStream received = new ByteArrayOutputStream();
        int published = 2;
        int at = 0;
        int messages = 0;
        byte[][] blockOf = {blocks.getFirst(), blocks.getLast()}; // by entry of the list
        int current = 0;
        int inBlock = 0;
        for (int step = 0; received.size() < sent.length; step++) {
            boolean send = order.isEmpty() || order.get(step % order.size()) || receiver.readableBytes() == 0;
            boolean behind = cuts.get(step % cuts.size()) % 3 == 0;
            int size = Math.min(cuts.get(step % cuts.size()), sent.length - at);
            if (!behind) {
                size = Math.min(size, target.remaining());
            } else {
                size = Math.min(size, MOST_BEHIND);
            }
            if (send && size > 0 && credits.isAvailable()) {
                int word = new StreamMessage.Data(size).encode();
                if (behind) {
                    receives[messages] = Arrays.copyOfRange(sent, at, at + size);
                    receiver.arrived(word, StreamMessage.BYTES + size, messages);
                } else {
                    assertEquals(inBlock, target.address());
                    System.arraycopy(sent, at, blockOf[current], inBlock, size);
                    inBlock += size;
                    target.advance(size);
                    if (inBlock == blockOf[current].length) {
                        current = 1 - current;
                        inBlock = 0;
                    }
                    receiver.arrived(word, StreamMessage.BYTES, messages);
                }
                credits.sent();
                messages++;
                at += size;
            }
            int take = Math.min(takes.get(step % takes.size()), receiver.oldestBytes());
            if (take > 0) {
                take(receiver, take, received);
            }
            boolean room = receiver.removeTakenEntry();
            if (room) {
                blocks.remove();
                int entry = published % TargetList.ENTRIES;
                publish(receiver, entries, published).write(list, entry * TargetEntry.BYTES, byteOrder);
                blockOf[entry] = blocks.getLast();
                published++;
            }
            if (room || receiver.isUpdateDue()) {
                credits.update(receiver.newLimit() & StreamMessage.LIMIT_MASK);
                target.update();
            }
        }
        assertArrayEquals(sent, received.toByteArray());
        assertEquals(0, receiver.readableBytes());
    }

    private TargetEntry publish(StreamReceiver receiver, List<Integer> entries, int number) {
        int size = entries.get(number % entries.size());
        receiver.published(size);
        blocks.add(new byte[size]);
        return new TargetEntry(0, 7 + number, size);
    }

    private void take(StreamReceiver receiver, int size, ByteArrayOutputStream received) {
        if (receiver.oldestReceive() == StreamReceiver.RING) {
            received.write(blocks.getFirst(), receiver.oldestOffset(), size);
        } else {
            received.write(receives[receiver.oldestReceive()], receiver.oldestOffset() - StreamMessage.BYTES, size);
        }
        receiver.take(size);
    }
}
