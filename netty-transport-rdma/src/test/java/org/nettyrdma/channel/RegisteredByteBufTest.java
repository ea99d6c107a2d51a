package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.internal.PlatformDependent;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Registered buffers against Netty's own direct buffers, and against the memory that the device sees. */
class RegisteredByteBufTest {

    private static final int STEPS = 3_000;
    private static final RegisteredByteBufAllocator WITH_ADDRESSES = newAllocator(true);
    private static final RegisteredByteBufAllocator WITHOUT_ADDRESSES = newAllocator(false);

    @TempDir
    private Path directory;

    /** The addresses are not there to be used where the tests themselves run without {@code Unsafe}. */
    private static RegisteredByteBufAllocator newAllocator(boolean hasAddresses) {
        return new RegisteredByteBufAllocator(new MemoryOnlyProvider(), 64 << 20, hasAddresses && PlatformDependent.hasUnsafe());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldWriteIntoTheRegisteredMemory(boolean hasAddresses) {
        RegisteredByteBufAllocator allocator = newAllocator(hasAddresses);
        ByteBuf buffer = allocator.directBuffer(16).writeInt(0x01020304);
        RegisteredPieces pieces = allocator.newPieces(1);
        assertTrue(pieces.find(buffer, 0, 4));
        ByteBuffer registered = pieces.region(0).memory();
        assertEquals(0x01020304, registered.getInt(pieces.offset(0)));
        registered.putInt(pieces.offset(0), 0x05060708);
        assertEquals(0x05060708, buffer.readInt());
        buffer.release();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldAgreeWithNettysDirectBuffer(boolean hasAddresses) throws IOException {
        Random random = new Random(hasAddresses ? 14 : 15);
        ByteBuf ours = newAllocator(hasAddresses).directBuffer(300);
        ByteBuf theirs = Unpooled.directBuffer(300);
        ours.setZero(0, 300);
        theirs.setZero(0, 300);
        try (FileChannel file = FileChannel.open(directory.resolve("file"), StandardOpenOption.CREATE,
                StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            for (int step = 0; step < STEPS; step++) {
                long seed = random.nextLong();
                String of = "step " + step + ", seed " + seed;
                Object ourResult = resultOf(new Random(seed), ours, file);
                Object theirResult = resultOf(new Random(seed), theirs, file);
                if (theirResult instanceof byte[] bytes) {
                    assertArrayEquals(bytes, (byte[]) ourResult, of);
                } else {
                    assertEquals(theirResult, ourResult, of);
                }
                assertEquals(theirs.capacity(), ours.capacity(), of);
                assertEquals(theirs.readerIndex(), ours.readerIndex(), of);
                assertEquals(theirs.writerIndex(), ours.writerIndex(), of);
                assertEquals(theirs.slice(0, theirs.capacity()), ours.slice(0, ours.capacity()), of);
            }
        }
        ours.release();
        theirs.release();
    }

    /** What one step gives, or that it is refused: Netty's buffers differ in what they throw at a negative index. */
    private static Object resultOf(Random random, ByteBuf buffer, FileChannel file) throws IOException {
        try {
            return step(random, buffer, file);
        } catch (IndexOutOfBoundsException | IllegalArgumentException e) {
            return "refused";
        } catch (UnsupportedOperationException e) {
            return "unsupported";
        }
    }

    private static Object step(Random random, ByteBuf buffer, FileChannel file) throws IOException {
        int capacity = buffer.capacity();
        int index = random.nextInt(capacity + 10) - 5;
        boolean inside = index >= 0 && index <= capacity; // outside Netty's buffers differ in what they do without bytes
        int length = random.nextInt(Math.max(1, capacity - index + 2)) + (inside ? 0 : 1);
        int place = inside ? index : 0;
        int room = Math.min(length, capacity - place);
        int other = random.nextInt(8);
        long value = random.nextLong();
        byte[] bytes = new byte[length + 16];
        random.nextBytes(bytes);
        return switch (random.nextInt(52)) {
            case 0 -> buffer.getByte(index);
            case 1 -> buffer.getShort(index);
            case 2 -> buffer.getShortLE(index);
            case 3 -> buffer.getMedium(index);
            case 4 -> buffer.getMediumLE(index);
            case 5 -> buffer.getUnsignedMedium(index);
            case 6 -> buffer.getUnsignedMediumLE(index);
            case 7 -> buffer.getInt(index);
            case 8 -> buffer.getIntLE(index);
            case 9 -> buffer.getLong(index);
            case 10 -> buffer.getLongLE(index);
            case 11 -> buffer.getDouble(index);
            case 12 -> done(buffer.setByte(index, (int) value));
            case 13 -> done(buffer.setShort(index, (int) value));
            case 14 -> done(buffer.setShortLE(index, (int) value));
            case 15 -> done(buffer.setMedium(index, (int) value));
            case 16 -> done(buffer.setMediumLE(index, (int) value));
            case 17 -> done(buffer.setInt(index, (int) value));
            case 18 -> done(buffer.setIntLE(index, (int) value));
            case 19 -> done(buffer.setLong(index, value));
            case 20 -> done(buffer.setLongLE(index, value));
            case 21 -> done(buffer.setZero(index, length));
            case 22 -> buffer.setCharSequence(Math.min(index, Math.max(0, capacity - 20)), "näme", StandardCharsets.UTF_8);
            case 23 -> {
                buffer.getBytes(index, bytes, other, length);
                yield bytes;
            }
            case 24 -> done(buffer.setBytes(index, bytes, other, length));
            case 25, 26 -> viaBuffer(random.nextInt(5), bytes, target -> buffer.getBytes(index, target, other, length));
            case 27, 28 -> viaBuffer(random.nextInt(6), bytes, source -> buffer.setBytes(index, source, other, length));
            case 29 -> {
                ByteBuffer target = random.nextBoolean() ? ByteBuffer.wrap(bytes, other, length)
                        : ByteBuffer.allocateDirect(bytes.length).limit(other + length).position(other);
                buffer.getBytes(index, target);
                yield target.position() + ":" + target.flip();
            }
            case 30 -> {
                ByteBuffer source = random.nextBoolean() ? ByteBuffer.wrap(bytes, other, length).order(ByteOrder.LITTLE_ENDIAN)
                        : ByteBuffer.allocateDirect(bytes.length).put(bytes).limit(other + length).position(other);
                buffer.setBytes(index, source);
                yield source.position();
            }
            case 31 -> {
                var target = new ByteArrayOutputStream();
                buffer.getBytes(place, target, room);
                yield target.toByteArray();
            }
            case 32 -> buffer.setBytes(place, new ByteArrayInputStream(bytes, other, bytes.length), room);
            case 33 -> buffer.setBytes(place, InputStream.nullInputStream(), room);
            case 34 -> {
                ByteBuffer target = ByteBuffer.allocate(buffer.getBytes(place, file.position(0), room));
                file.read(target, 0);
                yield target.array();
            }
            case 35 -> {
                file.write(ByteBuffer.wrap(bytes), 0);
                yield buffer.setBytes(place, file.position(0), room);
            }
            case 36 -> buffer.getBytes(place, file, other, room);
            case 37 -> {
                file.write(ByteBuffer.wrap(bytes), 0);
                yield buffer.setBytes(place, file, other, room);
            }
            case 38 -> copied(buffer.copy(index, length));
            case 39 -> bytesOf(buffer.nioBuffer(index, length));
            case 40 -> bytesOf(buffer.nioBuffers(index, length)[0]);
            case 41 -> {
                ByteBuffer internal = buffer.internalNioBuffer(index, length);
                yield internal.position() + "," + internal.limit() + ',' + Arrays.toString(bytesOf(internal));
            }
            case 42 -> done(resize(buffer, index + (int) (value & 63) - 32));
            case 43 -> done(resize(buffer, (int) (value & 2047)));
            case 44 -> done(buffer.writerIndex(Math.min(capacity, buffer.writerIndex() + other)));
            case 45 -> done(buffer.readerIndex(Math.min(buffer.writerIndex(), buffer.readerIndex() + other)));
            case 46 -> done(buffer.discardReadBytes());
            case 47 -> done(buffer.clear().writeBytes(buffer.duplicate().setIndex(0, capacity), Math.min(length, capacity)));
            case 48 -> done(buffer.setIndex(0, capacity).setDoubleLE(index, value));
            case 49 -> buffer.indexOf(0, capacity, (byte) value) + "," + buffer.hashCode() + ',' + buffer.nioBufferCount();
            case 50 -> buffer.isDirect() + "," + buffer.isContiguous() + ',' + buffer.hasArray() + ',' + buffer.isReadOnly();
            default -> buffer.array();
        };
    }

    /** What a buffer gains has undefined content, so that it is defined here. */
    private static ByteBuf resize(ByteBuf buffer, int newCapacity) {
        int old = buffer.capacity();
        buffer.capacity(newCapacity);
        return newCapacity > old ? buffer.setZero(old, newCapacity - old) : buffer;
    }

    private static String done(ByteBuf buffer) {
        return "done";
    }

    /**
     * Uses a buffer of one of six kinds with the given bytes, and gives what is in it afterwards. Netty's own buffers cannot be
     * copied to the last kind where they do without {@code Unsafe}.
     */
    private static String viaBuffer(int kind, byte[] bytes, Function<ByteBuf, ByteBuf> use) {
        RegisteredByteBufAllocator allocator = kind == 2 ? WITH_ADDRESSES : WITHOUT_ADDRESSES;
        int half = bytes.length / 2;
        ByteBuf buffer = switch (kind) {
            case 0 -> Unpooled.wrappedBuffer(bytes);
            case 1 -> Unpooled.directBuffer(bytes.length).writeBytes(bytes);
            case 5 -> Unpooled.wrappedBuffer(Unpooled.copiedBuffer(bytes, 0, half),
                    allocator.directBuffer(bytes.length - half).writeBytes(bytes, half, bytes.length - half));
            case 3 -> Unpooled.directBuffer(bytes.length).writeBytes(bytes).slice();
            default -> allocator.directBuffer(bytes.length).writeBytes(bytes);
        };
        try {
            use.apply(kind == 4 ? buffer.duplicate() : buffer);
            return ByteBufUtil.hexDump(buffer, 0, bytes.length);
        } finally {
            buffer.release();
        }
    }

    private static byte[] copied(ByteBuf copy) {
        byte[] bytes = ByteBufUtil.getBytes(copy);
        copy.release();
        return bytes;
    }

    private static byte[] bytesOf(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        return bytes;
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldReadNothingFromAClosedChannel(boolean hasAddresses) throws IOException {
        ByteBuf buffer = newAllocator(hasAddresses).directBuffer(16);
        FileChannel file = FileChannel.open(directory.resolve("closed"), StandardOpenOption.CREATE, StandardOpenOption.WRITE,
                StandardOpenOption.READ);
        file.close();
        assertEquals(-1, buffer.setBytes(0, file, 0, 16));
        assertEquals(-1, buffer.setBytes(0, file, 16));
        assertThrows(ClosedChannelException.class, () -> buffer.getBytes(0, file, 16));
        buffer.release();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldRefuseEveryAccessOnceReleased(boolean hasAddresses) {
        RegisteredByteBufAllocator allocator = newAllocator(hasAddresses);
        ByteBuf buffer = allocator.directBuffer(64);
        ByteBuf other = allocator.directBuffer(64);
        buffer.release();
        List<Function<ByteBuf, Object>> accesses = List.of(b -> b.getByte(0), b -> b.getLong(0), b -> b.setInt(0, 1),
                b -> b.getBytes(0, new byte[4]), b -> b.setBytes(0, new byte[4]), b -> b.getBytes(0, ByteBuffer.allocate(4)),
                b -> b.setBytes(0, ByteBuffer.allocate(4)), b -> b.copy(0, 4), b -> b.nioBuffer(0, 4),
                b -> b.internalNioBuffer(0, 4), b -> b.nioBuffers(0, 4), b -> b.capacity(10), b -> b.capacity(1000),
                b -> b.getBytes(0, other, 0, 4), b -> b.setBytes(0, other, 0, 4), b -> other.getBytes(0, b, 0, 4),
                b -> other.setBytes(0, b, 0, 4));
        for (Function<ByteBuf, Object> access : accesses) {
            assertThrows(IllegalReferenceCountException.class, () -> access.apply(buffer));
        }
        other.release();
    }

    @Test
    void shouldTellNoAddressWithoutUnsafe() {
        ByteBuf buffer = newAllocator(false).directBuffer(16);
        assertFalse(buffer.hasMemoryAddress());
        assertThrows(UnsupportedOperationException.class, buffer::memoryAddress);
        buffer.release();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldKeepTheMemoryThatOthersHoldWhenItGrows(boolean hasAddresses) {
        RegisteredByteBufAllocator allocator = newAllocator(hasAddresses);
        ByteBuf buffer = allocator.directBuffer(1000).writeLong(1);
        ByteBuf sent = buffer.retainedSlice(); // as a channel has it until the device has completed the message
        RegisteredPieces pieces = allocator.newPieces(1);
        assertTrue(pieces.find(sent, 0, 8));
        ByteBuffer registered = pieces.region(0).memory();
        int offset = pieces.offset(0);
        buffer.capacity(2000).capacity(4000).writeLong(2);
        ByteBuf next = allocator.directBuffer(1000).writeLong(3);
        assertEquals(1, registered.getLong(offset), "somebody else has got the memory");
        assertEquals(1, sent.readLong());
        sent.release();
        buffer.release();
        ByteBuf reused = allocator.directBuffer(1000).writeLong(4);
        assertEquals(4, registered.getLong(offset), "not given back");
        reused.release();
        next.release();
    }
}
