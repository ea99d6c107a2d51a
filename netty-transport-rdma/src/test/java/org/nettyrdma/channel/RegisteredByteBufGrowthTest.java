package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** Registered buffers whose capacity changes, and the memory that they have then. */
class RegisteredByteBufGrowthTest {

    private final RegisteredByteBufAllocator allocator = new RegisteredByteBufAllocator(new MemoryOnlyProvider(), 256L << 20);

    @Test
    void shouldKeepContentWhenCapacityChanges() {
        ByteBuf buffer = allocator.directBuffer(100);
        ByteBufUtil.writeAscii(buffer, "content");
        for (int capacity : new int[] {256, 257, 100_000, 5_000, 10, 7, 300}) {
            buffer.capacity(capacity);
            assertEquals(capacity, buffer.capacity());
            assertEquals("content", buffer.toString(StandardCharsets.US_ASCII));
            assertTrue(allocator.isRegistered(buffer, 0, capacity));
        }
        buffer.capacity(3);
        assertEquals("con", buffer.toString(StandardCharsets.US_ASCII));
        buffer.release();
    }

    @Test
    void shouldTellOfUnregisteredMemoryWhileItIsInUse() {
        int registeredBytes = 1 << 20;
        var limited = new RegisteredByteBufAllocator(new MemoryOnlyProvider(), registeredBytes);
        ByteBuf pooled = limited.directBuffer(registeredBytes);
        ByteBuf growing = limited.directBuffer(100);
        ByteBuf large = limited.directBuffer(RegisteredByteBufAllocator.MAX_POOLED_BYTES + 1);
        assertEquals(registeredBytes + 100 + large.capacity(), limited.usedDirectMemory());
        growing.capacity(200);
        large.release();
        assertEquals(registeredBytes + 200, limited.usedDirectMemory());
        growing.release();
        pooled.release();
        assertEquals(registeredBytes, limited.usedDirectMemory());
    }

    @Test
    void shouldGrowInPlaceWithinItsBlock() {
        ByteBuf buffer = allocator.directBuffer(1025);
        Block block = RegisteredByteBufAllocatorTest.unwrapped(buffer).block();
        assertEquals(1536, buffer.maxFastWritableBytes());
        buffer.writeZero(1536);
        assertSame(block, RegisteredByteBufAllocatorTest.unwrapped(buffer).block());
        buffer.writeByte(1);
        assertNotSame(block, RegisteredByteBufAllocatorTest.unwrapped(buffer).block());
        buffer.release();
    }

    @Test
    void shouldGiveBackTheSmallerBlockWhenABufferGrows() {
        ByteBuf buffer = allocator.directBuffer(1000);
        Block small = RegisteredByteBufAllocatorTest.unwrapped(buffer).block();
        buffer.capacity(2000);
        ByteBuf next = allocator.directBuffer(1000);
        assertSame(small, RegisteredByteBufAllocatorTest.unwrapped(next).block());
        assertNotSame(RegisteredByteBufAllocatorTest.unwrapped(buffer), RegisteredByteBufAllocatorTest.unwrapped(next));
        assertEquals(0, next.setZero(0, 1000).getLong(992));
        next.release();
        buffer.release();
        ByteBuf again = allocator.directBuffer(2000);
        again.writeZero(2000);
        again.release();
    }

    @Test
    void shouldLeaveRegisteredMemoryWhenABufferGrowsTooLarge() {
        ByteBuf buffer = allocator.directBuffer(256);
        buffer.writeInt(42);
        buffer.capacity(RegisteredByteBufAllocator.MAX_POOLED_BYTES + 1);
        assertNull(RegisteredByteBufAllocatorTest.unwrapped(buffer).block());
        assertFalse(allocator.isRegistered(buffer, 0, 4));
        buffer.capacity(RegisteredByteBufAllocator.MAX_POOLED_BYTES + 100);
        assertEquals(42, buffer.readInt());
        buffer.release();
        ByteBuf next = allocator.directBuffer(256);
        assertTrue(allocator.isRegistered(next, 0, 256));
        next.release();
    }

    @Test
    void shouldRefuseToGrowBeyondTheMaximum() {
        ByteBuf buffer = allocator.directBuffer(10, 20);
        assertEquals(20, buffer.maxFastWritableBytes());
        assertThrows(IllegalArgumentException.class, () -> buffer.capacity(21));
        buffer.writeZero(20);
        assertThrows(IndexOutOfBoundsException.class, () -> buffer.writeByte(1));
        buffer.release();
    }
}
