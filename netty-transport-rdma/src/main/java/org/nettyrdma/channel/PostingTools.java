package org.nettyrdma.channel;

import io.netty.buffer.ByteBuf;
import org.nettyrdma.verbs.SendWorkRequest;
import org.nettyrdma.verbs.VerbsProvider;

/**
 * What the channels of one event loop share when they post.
 *
 * @param provider            the loop's provider
 * @param registeredAllocator the memory of that provider
 * @param pieces              scratch space for whoever posts
 * @param workRequest         scratch space for whoever posts
 */
record PostingTools(VerbsProvider provider, RegisteredByteBufAllocator registeredAllocator, RegisteredPieces pieces,
                 SendWorkRequest workRequest) {

    /** Of this size there often is memory left where others hold all larger blocks. */
    private static final int SMALL_COPY_BYTES = 4096;

    static PostingTools of(VerbsProvider provider) {
        RegisteredByteBufAllocator allocator = RegisteredByteBufAllocator.of(provider);
        int maxPieces = Math.max(provider.capabilities().maxGatherElements(), provider.capabilities().maxReadScatterElements());
        return new PostingTools(provider, allocator, allocator.newPieces(maxPieces), new SendWorkRequest(maxPieces));
    }

    /** What each channel may take of registered memory. */
    ConnectionMemory connectionMemory() {
        return registeredAllocator.connectionMemory();
    }

    /** Whether the device can read into the sink itself; else the bytes have to be copied there. */
    boolean findSink(RdmaRead read) {
        return pieces.find(read.content(), read.content().writerIndex(), read.length())
                && pieces.count() <= provider.capabilities().maxReadScatterElements();
    }

    /** Registered memory for bytes that must be copied in order to be sent. */
    ByteBuf newCopy(int bytes) throws RdmaException {
        return RegisteredByteBufAllocator.track(registeredAllocator.newRegistered(bytes, "a copy to send"));
    }

    /** The same for as many of the bytes as there is memory for, but only a few of them where it is short. */
    ByteBuf newCopyOfSome(int bytes) throws RdmaException {
        try {
            return newCopy(bytes);
        } catch (RdmaException e) {
            if (bytes <= SMALL_COPY_BYTES) {
                throw e;
            }
            return newCopy(SMALL_COPY_BYTES);
        }
    }
}
