package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertSame;

import io.netty.buffer.ByteBuf;
import io.netty.util.ResourceLeakDetector;
import io.netty.util.ResourceLeakDetectorFactory;
import org.junit.jupiter.api.Test;
import org.nettyrdma.verbs.support.ShortHeap;

class UntrackedBufferTest {

    @Test
    void shouldNotLoseABufferThatLeakDetectionHasNoMemoryFor() throws Exception {
        ShortHeap.run(Untracked.class);
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
