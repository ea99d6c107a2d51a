package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Operations are holders whose methods keep the type and what the operation does. */
class RdmaOperationTest {

    private static final RemoteSegment SEGMENT = new RemoteSegment(0x1234, 3, 5);

    private final ByteBuf content = Unpooled.buffer(8, 8).writeBytes(new byte[] {1, 2, 3});
    private final RdmaSend send = new RdmaSend(content, 7);
    private final RdmaWrite write = new RdmaWrite(content, SEGMENT);
    private final RdmaRead read = new RdmaRead(SEGMENT, content);

    @Test
    void shouldKeepWhatTheyDoInCopiesAndDuplicates() {
        for (RdmaSend other : List.of(send.copy(), send.duplicate(), send.replace(content))) {
            assertTrue(other.isInvalidating());
            assertEquals(7, other.steeringTag());
            assertEquals(content, other.content());
        }
        for (RdmaWrite other : List.of(write.copy(), write.duplicate(), write.replace(content))) {
            assertSame(SEGMENT, other.target());
            assertEquals(content, other.content());
        }
        for (RdmaRead other : List.of(read.copy(), read.duplicate(), read.replace(content))) {
            assertSame(SEGMENT, other.source());
            assertEquals(content, other.content());
            assertEquals(5, other.content().writableBytes());
        }
        assertNotSame(content, send.copy().content());
        content.setByte(0, 9);
        assertEquals(9, send.duplicate().content().getByte(0));
    }

    @Test
    void shouldReturnThemselvesWhenRetainedOrTouched() {
        assertSame(send, send.retain().retain(2).touch().touch("here"));
        assertEquals(4, content.refCnt());
        RdmaWrite duplicate = write.retainedDuplicate();
        assertEquals(5, content.refCnt());
        duplicate.release();
        read.release(3);
        assertEquals(1, content.refCnt());
    }

    @Test
    void shouldKeepNothingOfACopyForWhichThereIsNoRoom() {
        UnpooledByteBufAllocator alloc = new UnpooledByteBufAllocator(false);
        ByteBuf sink = alloc.buffer(4, 4);
        RdmaRead done = new RdmaRead(SEGMENT, sink);
        sink.writeZero(3);
        assertThrows(IllegalArgumentException.class, done::copy);
        assertThrows(IllegalArgumentException.class, done::retainedDuplicate);
        assertTrue(done.release());
        assertEquals(0, alloc.metric().usedHeapMemory(), "leaked");
    }

    @Test
    void shouldNotReadIntoWhatIsReadOnly() {
        assertThrows(IllegalArgumentException.class, () -> new RdmaRead(SEGMENT, content.asReadOnly()));
    }

    /** The same bytes sent twice are two messages, and a queue must find the right one. */
    @Test
    void shouldBeEqualToThemselvesOnly() {
        assertEquals(send, send);
        assertNotEquals(send, send.duplicate());
        assertEquals(2, Set.of(write, write.duplicate()).size());
    }
}
