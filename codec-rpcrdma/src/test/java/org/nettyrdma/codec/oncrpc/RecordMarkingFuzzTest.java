package org.nettyrdma.codec.oncrpc;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.TooLongFrameException;
import java.util.ArrayList;
import java.util.List;
import org.nettyrdma.testing.CountingAllocator;

/**
 * Any bytes as a TCP stream of records, cut in two ways: in one piece, and into pieces as long as the first bytes of the input
 * say. Both give the same records, none is over the limit, and what is unfinished is released with the connection.
 */
class RecordMarkingFuzzTest {

    private static final int LIMIT = 512;
    private static final int CUTS = 4;

    private final CountingAllocator memory = new CountingAllocator();

    @FuzzTest(maxDuration = "2s")
    void shouldFindTheSameRecordsHoweverTheStreamIsCut(byte[] input) {
        if (input.length <= CUTS) {
            return;
        }
        int length = input.length - CUTS;
        Received whole = receive(input, new int[] {length});
        int[] cuts = new int[CUTS];
        for (int i = 0; i < CUTS; i++) {
            cuts[i] = 1 + (input[i] & 0xff);
        }
        assertEquals(whole, receive(input, cuts));
    }

    private record Received(List<String> records, boolean failed) {
    }

    private Received receive(byte[] input, int[] cuts) {
        EmbeddedChannel channel = new EmbeddedChannel();
        channel.config().setAllocator(memory.allocator());
        channel.pipeline().addLast(new RecordMarkingCodec(LIMIT));
        boolean failed = false;
        int cut = 0;
        for (int start = CUTS; start < input.length && !failed; ) {
            int bytes = Math.min(cuts[cut++ % cuts.length], input.length - start);
            try {
                channel.writeInbound(memory.allocator().buffer(bytes).writeBytes(input, start, bytes));
            } catch (TooLongFrameException e) {
                failed = true;
            }
            start += bytes;
        }
        assertEquals(failed, !channel.isOpen());
        List<String> records = new ArrayList<>();
        for (ByteBuf record = channel.readInbound(); record != null; record = channel.readInbound()) {
            assertEquals(true, record.readableBytes() <= LIMIT);
            records.add(ByteBufUtil.hexDump(record));
            record.release();
        }
        channel.finishAndReleaseAll();
        memory.requireNothingLeft();
        return new Received(records, failed);
    }
}
