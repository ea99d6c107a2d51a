package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.ImmediateExecutor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.nettyrdma.verbs.VerbsProvider;

/** Allocators and groups refuse at once what cannot be. */
class WrongArgumentsTest {

    private final RegisteredByteBufAllocator allocator = new RegisteredByteBufAllocator(new MemoryOnlyProvider(), 1 << 20);

    /** Of what lies beyond a buffer some is registered, too, for other buffers. */
    @ParameterizedTest
    @CsvSource({"0, 65", "-1, 5", "64, 1", "60, -5", "65, 0", "2147483647, 2147483647"})
    void shouldNotSayOfWhatIsNoPartOfABufferThatItIsRegistered(int index, int length) {
        ByteBuf buffer = allocator.directBuffer(64);
        assertThrows(IndexOutOfBoundsException.class, () -> allocator.isRegistered(buffer, index, length));
        ByteBuf slice = buffer.slice(0, 10);
        assertThrows(IndexOutOfBoundsException.class, () -> allocator.isRegistered(slice, index, length));
        assertTrue(allocator.isRegistered(buffer, 64, 0));
        buffer.release();
    }

    @Test
    void shouldNameTheSystemPropertyOfTheLimit() {
        VerbsProvider provider = new MemoryOnlyProvider();
        assertEquals("org.nettyrdma.maxRegisteredBytes : -1 (expected: >= 0)",
                assertThrows(IllegalArgumentException.class, () -> new RegisteredByteBufAllocator(provider, -1)).getMessage());
        ByteBuf buffer = new RegisteredByteBufAllocator(provider, 0).directBuffer(1);
        assertFalse(allocator.isRegistered(buffer, 0, 1));
        buffer.release();
    }

    @Test
    void shouldNotMakeEventLoopsOfNothing() {
        VerbsProvider provider = new MemoryOnlyProvider();
        assertEquals("provider",
                assertThrows(NullPointerException.class, () -> new RdmaEventLoopGroup(1, (VerbsProvider) null)).getMessage());
        assertEquals("idleStrategy", assertThrows(NullPointerException.class,
                () -> new RdmaEventLoopGroup(1, ImmediateExecutor.INSTANCE, provider, null)).getMessage());
        assertThrows(IllegalArgumentException.class, () -> new RdmaEventLoopGroup(-1, provider));
    }
}
