package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.netty.buffer.ByteBuf;
import io.netty.util.ResourceLeakDetector;
import io.netty.util.ResourceLeakDetectorFactory;
import org.junit.jupiter.api.Test;
import org.nettyrdma.verbs.support.ShortHeap;

class UntrackedBufferTest {

    private static final int MIB = 1 << 20;

    @Test
    void shouldNotLoseABufferThatLeakDetectionHasNoMemoryFor() throws Exception {
        ShortHeap.run(Untracked.class);
    }

    /** For a receive that is to be posted, for instance, other memory is of no use. */
    @Test
    void shouldTakeNoOtherMemoryWhereItMustBeRegistered() {
        var limited = new RegisteredByteBufAllocator(new MemoryOnlyProvider(), 2 * MIB);
        ByteBuf all = limited.directBuffer(2 * MIB);
        String atTheLimit = assertThrows(RdmaException.class, () -> limited.newRegistered(MIB, "a test")).getMessage();
        assertEquals("no registered memory for the 1048576 bytes of a test: 2097152 of 2097152 bytes are registered "
                + "(org.nettyrdma.maxRegisteredBytes, by default 7/8 of the direct memory)", atTheLimit);
        String tooLarge = assertThrows(RdmaException.class,
                () -> limited.newRegistered(RegisteredByteBufAllocator.MAX_POOLED_BYTES + 1, "a test")).getMessage();
        assertEquals("no registered memory for the 16777217 bytes of a test: one piece has at most 16777216", tooLarge);
        assertEquals(0, limited.unregisteredBuffers());
        all.release();
    }

    /** In a JVM of its own, as Netty asks for its leak detectors once. */
    static final class Untracked {

        public static void main(String[] arguments) {
            ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.PARANOID);
            ResourceLeakDetectorFactory.setResourceLeakDetectorFactory(new ResourceLeakDetectorFactory() {
                @Override
                @SuppressWarnings("deprecation") // the one that there is to override
                public <T> ResourceLeakDetector<T> newResourceLeakDetector(Class<T> type, int samplingInterval, long maxActive) {
                    return new ResourceLeakDetector<>(type, samplingInterval) {
                        @Override
                        protected boolean needReport() { // looked at with each resource
                            throw new OutOfMemoryError("expected");
                        }
                    };
                }
            });
            ByteBuf buffer = RegisteredByteBufAllocator.of(new MemoryOnlyProvider()).directBuffer(1);
            assertSame(buffer, RegisteredByteBufAllocator.track(buffer));
            buffer.release();
        }
    }
}
