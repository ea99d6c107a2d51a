package org.nettyrdma.example.nfs.cli;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.DefaultMaxMessagesRecvByteBufAllocator;

/** Small receive buffers without direct memory, which the calls of clients may have used up. */
final class HeapReceiveAllocator extends DefaultMaxMessagesRecvByteBufAllocator {

    private static final int BUFFER_BYTES = 1024;

    @Override
    @SuppressWarnings("deprecation") // what it returns is deprecated in favour of what it is in fact
    public Handle newHandle() {
        return new MaxMessageHandle() {
            @Override
            public int guess() {
                return BUFFER_BYTES;
            }

            @Override
            public ByteBuf allocate(ByteBufAllocator allocator) {
                return allocator.heapBuffer(guess());
            }
        };
    }
}
