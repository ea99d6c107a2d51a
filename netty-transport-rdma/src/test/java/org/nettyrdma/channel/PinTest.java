package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class PinTest {

    private static final Path LEAKS = Path.of(System.getProperty("nettyrdma.leakReport"));

    private static long leakBytes() throws IOException {
        return Files.exists(LEAKS) ? Files.size(LEAKS) : 0;
    }

    /** A component that was taken out of its composite while it was pinned, and that nobody has any more. */
    private static WeakReference<ByteBuf> releasedComponent() {
        RegisteredByteBufAllocator allocator = new RegisteredByteBufAllocator(new MemoryOnlyProvider(), 256L << 20);
        ByteBuf component = allocator.buffer(1000);
        ByteBuf registered = component;
        while (registered.unwrap() != null) {
            registered = registered.unwrap();
        }
        CompositeByteBuf composite = allocator.compositeBuffer().addComponent(true, component);
        Pin pin = Pin.of(composite, true);
        composite.removeComponent(0);
        assertEquals(1, registered.refCnt());
        Pin.release(pin);
        assertEquals(0, registered.refCnt());
        assertTrue(composite.release());
        while (allocator.trim()) {
            assertTrue(allocator.registeredBytes() > 0);
        }
        assertEquals(0, allocator.registeredBytes());
        return new WeakReference<>(registered);
    }

    /** It would take the component for lost once its memory has gone back to the system. */
    @Test
    void shouldTellLeakDetectionOfTheReleaseOfAComponent() throws IOException {
        long before = leakBytes();
        WeakReference<ByteBuf> component = releasedComponent();
        long start = System.nanoTime();
        while (component.get() != null && System.nanoTime() - start < TimeUnit.SECONDS.toNanos(10)) {
            System.gc();
        }
        assertNull(component.get());
        for (int i = 0; i < 3; i++) { // what was collected is told of with a later buffer
            System.gc();
            UnpooledByteBufAllocator.DEFAULT.buffer().release();
        }
        assertEquals(before, leakBytes());
    }
}
