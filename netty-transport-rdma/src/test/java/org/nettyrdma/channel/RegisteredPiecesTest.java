package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.IllegalReferenceCountException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.nettyrdma.verbs.iwarp.IwarpProvider;

/** Where the device finds the bytes of a buffer. */
class RegisteredPiecesTest {

    private final RegisteredByteBufAllocator allocator = RegisteredByteBufAllocator.of(new IwarpProvider());
    private final RegisteredPieces pieces = allocator.newPieces(4);
    private final RegisteredPieces byAddress = allocator.newPieces(4);

    /** Without what watches for leaks, as most buffers are. */
    private static RegisteredByteBuf plain(ByteBuf buffer) {
        return (RegisteredByteBuf) (buffer instanceof RegisteredByteBuf ? buffer : buffer.unwrap());
    }

    @Test
    void shouldFindABufferWhereItsAddressIs() {
        Random random = new Random(5);
        List<ByteBuf> buffers = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            ByteBuf buffer = allocator.directBuffer(1 + random.nextInt(20_000));
            buffers.add(buffer);
            if (random.nextInt(4) == 0) {
                buffer.capacity(1 + random.nextInt(40_000)); // may move it
            }
            int index = random.nextInt(buffer.capacity());
            int length = 1 + random.nextInt(buffer.capacity() - index);
            // A slice is looked up by its address, which is the ordinary way.
            assertTrue(byAddress.find(buffer.slice(index, length), 0, length));
            assertTrue(pieces.find(plain(buffer), index, length));
            assertEquals(1, pieces.count());
            assertTrue(pieces.isOnePiece(plain(buffer), index, length));
            assertSame(byAddress.region(0), pieces.region(0));
            assertEquals(byAddress.offset(0), pieces.offset(0));
            if (random.nextBoolean()) {
                buffers.remove(random.nextInt(buffers.size())).release();
            }
        }
        buffers.forEach(ByteBuf::release);
    }

    /** Where the JVM shows no addresses, the buffer itself refuses what it does not have. */
    private static String outcome(RegisteredPieces pieces, ByteBuf buffer, int index) {
        try {
            return String.valueOf(pieces.find(buffer, index, 100));
        } catch (IndexOutOfBoundsException e) {
            return "refused";
        }
    }

    @Test
    void shouldTellOfBytesThatABufferDoesNotHaveWhatTheirAddressTells() {
        ByteBuf buffer = allocator.directBuffer(100, 100);
        RegisteredByteBuf plain = plain(buffer);
        ByteBuf wrapped = Unpooled.unreleasableBuffer(buffer);
        for (int index : new int[] {-1, 0, 1, 1 << 30, Integer.MAX_VALUE}) {
            assertEquals(outcome(byAddress, wrapped, index), outcome(pieces, plain, index));
            assertEquals(index == 0, pieces.isOnePiece(plain, index, 100));
        }
        assertFalse(pieces.isOnePiece(buffer.slice(), 0, 100), "who does not know leaves it to the search");
        assertTrue(pieces.find(plain, 0, 0), "no bytes need no piece");
        buffer.release();
        assertThrows(IllegalReferenceCountException.class, () -> pieces.find(plain, 0, 100));
        assertThrows(IllegalReferenceCountException.class, () -> pieces.isOnePiece(plain, 0, 100));
    }

    @Test
    void shouldNotFindTheMemoryOfAnotherProvider() {
        ByteBuf foreign = RegisteredByteBufAllocator.of(new IwarpProvider()).directBuffer(100, 100);
        assertFalse(pieces.find(foreign, 0, 100));
        assertFalse(pieces.find(plain(foreign), 0, 100));
        assertFalse(pieces.isOnePiece(plain(foreign), 0, 100));
        foreign.release();
    }
}
