package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class SizeClassesTest {

    @Test
    void shouldFindTheSmallestSizeThatFits() {
        for (int sizeClass = 0; sizeClass < SizeClasses.COUNT; sizeClass++) {
            int size = SizeClasses.sizeOf(sizeClass);
            int sizeBelow = sizeClass == 0 ? -1 : SizeClasses.sizeOf(sizeClass - 1);
            assertEquals(sizeClass, SizeClasses.of(size), "size " + size);
            assertEquals(sizeClass, SizeClasses.of(sizeBelow + 1), "size " + (sizeBelow + 1));
        }
    }

    @Test
    void shouldLoseAtMostAThird() {
        for (int bytes = SizeClasses.SMALLEST; bytes <= SizeClasses.LARGEST; bytes += 7) {
            int size = SizeClasses.sizeOf(SizeClasses.of(bytes));
            assertTrue(size >= bytes && (size - bytes) * 3L <= size, bytes + " in " + size);
        }
    }

    @Test
    void shouldReachFrom256BytesTo16MiB() {
        assertEquals(256, SizeClasses.sizeOf(0));
        assertEquals(384, SizeClasses.sizeOf(1));
        assertEquals(512, SizeClasses.sizeOf(2));
        assertEquals(16 << 20, SizeClasses.sizeOf(SizeClasses.COUNT - 1));
    }

    @Test
    void shouldLoseLittleOfLargeMessagesWhoseDataIsAPowerOfTwo() {
        for (int megabytes = 1; megabytes < 16; megabytes *= 2) {
            int dataBytes = megabytes << 20;
            assertEquals(dataBytes, SizeClasses.sizeOf(SizeClasses.of(dataBytes)));
            assertEquals(dataBytes + dataBytes / 16, SizeClasses.sizeOf(SizeClasses.of(dataBytes + 1)));
            assertEquals(dataBytes + dataBytes / 16, SizeClasses.sizeOf(SizeClasses.of(dataBytes + dataBytes / 16)));
            assertEquals(dataBytes + dataBytes / 2, SizeClasses.sizeOf(SizeClasses.of(dataBytes + dataBytes / 16 + 1)));
        }
    }
}
