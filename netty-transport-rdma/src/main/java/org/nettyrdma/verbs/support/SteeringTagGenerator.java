package org.nettyrdma.verbs.support;

import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.function.IntSupplier;

/**
 * Unpredictable steering tags: a peer must not be able to guess a tag it was not told (RFC 5042, section 6.1.1). A tag is a
 * 24-bit index, which is never 0, and an 8-bit key; all 32 bits are random.
 */
public final class SteeringTagGenerator implements IntSupplier {

    /** The generator of the system costs about a microsecond per call, whatever the size, so many tags are drawn at once. */
    private static final int BUFFER_BYTES = 4096;
    private static final int KEY_BITS = 8;

    private final SecureRandom random = new SecureRandom();
    private final byte[] bytes = new byte[BUFFER_BYTES];
    private final ByteBuffer buffer = ByteBuffer.wrap(bytes).position(BUFFER_BYTES);

    /** Creates a generator; to be used by one thread at a time. */
    public SteeringTagGenerator() {
        // The first tags are drawn when they are asked for.
    }

    @Override
    public int getAsInt() {
        int tag;
        do {
            if (!buffer.hasRemaining()) {
                random.nextBytes(bytes);
                buffer.clear();
            }
            tag = buffer.getInt();
        } while (tag >>> KEY_BITS == 0);
        return tag;
    }
}
