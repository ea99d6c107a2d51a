package org.nettyrdma.channel;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.ResourceLeakDetector;
import io.netty.util.internal.PlatformDependent;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class RegisteredByteBufAllocatorTest {

    private static final int MIB = 1 << 20;

    private final RegisteredByteBufAllocator allocator = new RegisteredByteBufAllocator(new MemoryOnlyProvider(), 256L * MIB);

    /** The buffer below the wrappers of the leak detector. */
    static RegisteredByteBuf unwrapped(ByteBuf buffer) {
        return (RegisteredByteBuf) (buffer instanceof RegisteredByteBuf ? buffer : buffer.unwrap());
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 255, 256, 257, 4096, 65_537, MIB, MIB + 4096, 16 * MIB})
    void shouldHaveTheCapacityAskedFor(int bytes) {
        ByteBuf buffer = allocator.directBuffer(bytes);
        assertEquals(bytes, buffer.capacity());
        assertEquals(0, buffer.readerIndex());
        assertEquals(0, buffer.writerIndex());
        assertEquals(Integer.MAX_VALUE, buffer.maxCapacity());
        assertEquals(1, buffer.refCnt());
        assertTrue(buffer.isDirect());
        assertSame(allocator, buffer.alloc());
        assertTrue(allocator.isRegistered(buffer, 0, bytes));
        buffer.setZero(0, bytes);
        assertThrows(IndexOutOfBoundsException.class, () -> buffer.getByte(bytes));
        assertThrows(IndexOutOfBoundsException.class, () -> buffer.setByte(bytes, 0));
        assertThrows(IndexOutOfBoundsException.class, () -> buffer.copy(0, bytes + 1));
        assertTrue(buffer.release());
        assertThrows(IllegalReferenceCountException.class, () -> buffer.writeByte(0));
    }

    @Test
    void shouldCopyFromAndToEveryKindOfBuffer() {
        byte[] text = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
        ByteBuf registered = allocator.directBuffer(64).writeBytes(text);
        CompositeByteBuf mixed = Unpooled.compositeBuffer().addComponents(true, Unpooled.copiedBuffer(text, 0, 5),
                registered.retainedSlice(5, 6), Unpooled.directBuffer().writeBytes(text, 11, 5));
        List<ByteBuf> others = List.of(registered.retainedSlice(0, 16), registered.retainedDuplicate(),
                Unpooled.copiedBuffer(text),
                Unpooled.directBuffer().writeBytes(text), mixed, mixed.retainedSlice(0, 16),
                Unpooled.unreleasableBuffer(Unpooled.wrappedBuffer(text)), registered.asReadOnly().retain());
        for (ByteBuf other : others) {
            ByteBuf copy = allocator.directBuffer(16);
            copy.setZero(0, 16).setBytes(2, other, 3, 12);
            assertEquals("0000" + ByteBufUtil.hexDump(text, 3, 12) + "0000", ByteBufUtil.hexDump(copy, 0, 16), other.toString());
            copy.clear().writeBytes(other, 0, 16);
            assertEquals(ByteBufUtil.hexDump(text), ByteBufUtil.hexDump(copy), other.toString());
            if (!other.isReadOnly()) {
                copy.getBytes(1, other, 1, 14);
                assertEquals(ByteBufUtil.hexDump(text), ByteBufUtil.hexDump(other, 0, 16), other.toString());
            }
            copy.release();
        }
        others.forEach(ByteBuf::release);
        registered.release();
    }

    @Test
    void shouldNotCopyFromOrToOutsideOfEitherBuffer() {
        ByteBuf buffer = allocator.directBuffer(16);
        ByteBuf other = allocator.directBuffer(32);
        ByteBuf slice = other.retainedSlice(4, 8);
        assertThrows(IndexOutOfBoundsException.class, () -> buffer.setBytes(8, other, 0, 9));
        assertThrows(IndexOutOfBoundsException.class, () -> buffer.setBytes(-1, other, 0, 1));
        assertThrows(IndexOutOfBoundsException.class, () -> buffer.setBytes(0, other, 0, -1));
        assertThrows(IndexOutOfBoundsException.class, () -> buffer.setBytes(0, other, 17, 16));
        assertThrows(IndexOutOfBoundsException.class, () -> buffer.setBytes(0, slice, 1, 8));
        assertThrows(IndexOutOfBoundsException.class, () -> buffer.getBytes(8, other, 0, 9));
        assertThrows(IndexOutOfBoundsException.class, () -> buffer.getBytes(0, other, 17, 16));
        assertThrows(IndexOutOfBoundsException.class, () -> buffer.getBytes(0, slice, 1, 8));
        buffer.release();
        assertThrows(IllegalReferenceCountException.class, () -> buffer.setBytes(0, other, 0, 1));
        assertThrows(IllegalReferenceCountException.class, () -> buffer.getBytes(0, other, 0, 1));
        slice.release();
        ByteBuf third = allocator.directBuffer(8); // before the release, or it would be the same buffer again
        other.release();
        assertThrows(IllegalReferenceCountException.class, () -> third.setBytes(0, other, 0, 1));
        assertThrows(ReadOnlyBufferException.class, () -> third.getBytes(0, third.asReadOnly(), 0, 1));
        third.release();
    }

    @Test
    void shouldPreferDirectMemoryInEveryForm() {
        for (ByteBuf buffer : List.of(allocator.buffer(), allocator.buffer(10), allocator.buffer(10, 20), allocator.ioBuffer(),
                allocator.ioBuffer(10), allocator.ioBuffer(10, 20), allocator.directBuffer())) {
            assertTrue(allocator.isRegistered(buffer, 0, 10));
            buffer.release();
        }
        assertTrue(allocator.isDirectBufferPooled());
        ByteBuf heap = allocator.heapBuffer(10);
        assertTrue(heap.hasArray());
        heap.release();
    }

    @Test
    void shouldReuseWhatWasReleasedLast() {
        ByteBuf first = allocator.directBuffer(1000);
        ByteBuf second = allocator.directBuffer(1000);
        RegisteredByteBuf firstUnwrapped = unwrapped(first);
        RegisteredByteBuf secondUnwrapped = unwrapped(second);
        assertNotSame(firstUnwrapped, secondUnwrapped);
        first.release();
        second.release();
        ByteBuf third = allocator.directBuffer(900);
        ByteBuf fourth = allocator.directBuffer(1024);
        assertSame(secondUnwrapped, unwrapped(third), "the object is reused with its memory");
        assertSame(firstUnwrapped, unwrapped(fourth));
        third.release();
        fourth.release();
    }

    @Test
    void shouldOpenReusedBuffersAsNew() {
        ByteBuf used = allocator.directBuffer(100, 200);
        used.writeZero(50).readByte();
        used.markReaderIndex().markWriterIndex();
        used.release();
        ByteBuf fresh = allocator.directBuffer(120);
        assertEquals(120, fresh.capacity());
        assertEquals(Integer.MAX_VALUE, fresh.maxCapacity());
        assertEquals(0, fresh.readableBytes());
        assertEquals(0, fresh.resetReaderIndex().resetWriterIndex().writerIndex());
        fresh.release();
    }

    @Test
    void shouldGrowByWholeSlabs() {
        List<ByteBuf> buffers = new ArrayList<>();
        for (int i = 0; i < 1024; i++) {
            buffers.add(allocator.directBuffer(4096));
        }
        assertEquals(4 * MIB, allocator.registeredBytes());
        buffers.forEach(ByteBuf::release);
        for (int i = 0; i < 1024; i++) {
            buffers.set(i, allocator.directBuffer(4096));
        }
        assertEquals(4 * MIB, allocator.registeredBytes(), "nothing more is registered in a steady state");
        assertEquals(allocator.registeredBytes(), allocator.metric().usedDirectMemory());
        buffers.forEach(ByteBuf::release);
    }

    @Test
    void shouldHandOutUnregisteredMemoryBeyondTheLimit() {
        var limited = new RegisteredByteBufAllocator(new MemoryOnlyProvider(), 2 * MIB);
        ByteBuf first = limited.directBuffer(MIB);
        ByteBuf second = limited.directBuffer(MIB);
        ByteBuf third = limited.directBuffer(MIB);
        assertTrue(limited.isRegistered(second, 0, MIB));
        assertFalse(limited.isRegistered(third, 0, MIB));
        assertTrue(third.isDirect());
        assertEquals(1, limited.unregisteredBuffers());
        first.release();
        second.release();
        third.release();
        assertEquals(2 * MIB, limited.registeredBytes());
    }

    @Test
    void shouldHandOutUnregisteredMemoryWhenTheDeviceRefuses() {
        var refused = new RegisteredByteBufAllocator(new MemoryOnlyProvider().refusingMoreThan(MIB), 100 * MIB);
        ByteBuf first = refused.directBuffer(MIB);
        ByteBuf second = refused.directBuffer(MIB);
        assertTrue(refused.isRegistered(first, 0, MIB));
        assertFalse(refused.isRegistered(second, 0, MIB));
        first.release();
        second.release();
    }

    @Test
    void shouldTakeRegisteredMemoryFromTheProviderAndGiveItBackToIt() {
        var provider = new MemoryOnlyProvider(); // registers nothing else
        var pooled = new RegisteredByteBufAllocator(provider, 100 * MIB);
        ByteBuf buffer = pooled.directBuffer(100_000);
        assertTrue(pooled.isRegistered(buffer, 0, 100_000));
        assertEquals(1, provider.allocated());
        buffer.release();
        pooled.trim();
        pooled.trim();
        assertEquals(0, provider.allocated());
        assertEquals(0, pooled.registeredBytes());
    }

    static Stream<Throwable> shortagesOfMemory() {
        return Stream.of(new OutOfMemoryError("all of 3 files are mapped"), new IOException("no space left on device"));
    }

    @ParameterizedTest
    @MethodSource("shortagesOfMemory")
    void shouldGoOnWithoutRegisteredMemoryWhenTheProviderHasNoMore(Throwable shortage) {
        var provider = new MemoryOnlyProvider();
        var pooled = new RegisteredByteBufAllocator(provider, 100 * MIB);
        provider.failAllocations(shortage);
        ByteBuf without = pooled.directBuffer(MIB);
        assertFalse(pooled.isRegistered(without, 0, MIB));
        assertTrue(pooled.shortage().contains(shortage.getMessage()), pooled.shortage());
        assertEquals(0, pooled.registeredBytes());
        provider.failAllocations(null);
        ByteBuf later = pooled.directBuffer(MIB);
        for (long endNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(30); !pooled.isRegistered(later, 0, MIB);
                later = pooled.directBuffer(MIB)) { // the provider is not asked with each buffer
            assertTrue(System.nanoTime() - endNanos < 0, "the provider is not asked again");
            later.release();
            Thread.onSpinWait();
        }
        without.release();
        later.release();
    }

    static Stream<Throwable> faultsOfAProvider() {
        return Stream.of(new IllegalStateException("a bug"), new LinkageError("a bug"));
    }

    @ParameterizedTest
    @MethodSource("faultsOfAProvider")
    void shouldLoseNoMemoryToAFaultOfTheProvider(Throwable fault) {
        var provider = new MemoryOnlyProvider();
        var pooled = new RegisteredByteBufAllocator(provider, 2 * MIB);
        provider.failRegistrations(fault);
        assertThrows(fault.getClass(), () -> pooled.directBuffer(MIB));
        provider.failRegistrations(null);
        provider.failAllocations(fault);
        var other = new RegisteredByteBufAllocator(provider, 2 * MIB);
        assertThrows(fault.getClass(), () -> other.directBuffer(MIB));
        assertEquals(0, provider.allocated());
        assertEquals(0, pooled.registeredBytes());
        assertEquals(0, other.registeredBytes());
    }

    /** Buffers of one size, until one is not registered; that one is released. */
    private static List<ByteBuf> fill(RegisteredByteBufAllocator filled, int bytes) {
        List<ByteBuf> buffers = new ArrayList<>();
        ByteBuf buffer = filled.directBuffer(bytes);
        for (; filled.isRegistered(buffer, 0, bytes); buffer = filled.directBuffer(bytes)) {
            buffers.add(buffer);
        }
        buffer.release();
        return buffers;
    }

    @Test
    void shouldUseFreeMemoryForBuffersOfOtherSizes() {
        var provider = new MemoryOnlyProvider();
        var limited = new RegisteredByteBufAllocator(provider, 16 * MIB);
        for (int bytes : new int[] {700_000, 4096, 4 * MIB, 256, 16 * MIB, 100_000, 4 * MIB, 1 << 20}) {
            List<ByteBuf> buffers = fill(limited, bytes);
            long usable = (long) buffers.size() * SizeClasses.sizeOf(SizeClasses.of(bytes));
            assertTrue(usable >= 11L * MIB, bytes + ": only " + buffers.size());
            buffers.forEach(ByteBuf::release);
        }
        assertTrue(limited.registeredBytes() <= 16 * MIB);
        assertEquals(provider.registeredBytes(), limited.registeredBytes());
    }

    @Test
    void shouldNotUseMemoryForOtherSizesOfWhichAPartIsInUse() {
        var limited = new RegisteredByteBufAllocator(new MemoryOnlyProvider(), 4 * MIB);
        List<ByteBuf> buffers = fill(limited, 4096);
        List<ByteBuf> kept = new ArrayList<>();
        for (int i = 0; i < buffers.size(); i++) {
            if (i % 16 == 10) {
                kept.add(buffers.get(i).setLong(0, i));
            } else {
                buffers.get(i).release();
            }
        }
        assertEquals(0, fill(limited, MIB).size());
        buffers = fill(limited, 4096);
        assertEquals(1024 - kept.size(), buffers.size());
        buffers.forEach(buffer -> buffer.setLong(0, -1));
        for (int i = 0; i < kept.size(); i++) {
            assertEquals(i * 16L + 10, kept.get(i).getLong(0));
        }
        buffers.forEach(ByteBuf::release);
        kept.forEach(ByteBuf::release);
        buffers = fill(limited, MIB);
        assertEquals(4, buffers.size());
        buffers.forEach(ByteBuf::release);
    }

    @Test
    void shouldGiveMemoryBackThatIsNotUsedForAWhile() {
        var provider = new MemoryOnlyProvider();
        var trimmed = new RegisteredByteBufAllocator(provider, 16 * MIB);
        List<ByteBuf> buffers = fill(trimmed, 4096);
        assertFalse(trimmed.trim(), "all of it is in use");
        ByteBuf kept = buffers.remove(0);
        buffers.forEach(ByteBuf::release);
        assertTrue(trimmed.trim(), "not long enough");
        assertEquals(16 * MIB, trimmed.registeredBytes());
        assertFalse(trimmed.trim());
        assertEquals(unwrapped(kept).block().slab.bytes(), trimmed.registeredBytes());
        assertEquals(unwrapped(kept).block().slab.bytes(), provider.registeredBytes());
        kept.release();
        for (int i = 0; i < 5; i++) {
            trimmed.directBuffer(4096).release();
            assertTrue(trimmed.trim(), "used meanwhile");
        }
        trimmed.trim();
        assertEquals(0, provider.registeredBytes());
        ByteBuf again = trimmed.directBuffer(4096);
        assertTrue(trimmed.isRegistered(again, 0, 4096));
        again.release();
    }

    @Test
    void shouldNotFreeMemoryThatTheDeviceDoesNotLetGoOf() {
        var provider = new MemoryOnlyProvider().refusingToClose();
        var trimmed = new RegisteredByteBufAllocator(provider, 16 * MIB);
        ByteBuf buffer = trimmed.directBuffer(4096);
        ByteBuffer memory = unwrapped(buffer).block().region().memory();
        buffer.release();
        assertTrue(trimmed.trim());
        assertFalse(trimmed.trim());
        assertEquals(memory.capacity(), provider.registeredBytes());
        assertEquals(memory.capacity(), trimmed.registeredBytes(), "it still counts");
        memory.putLong(0, 1); // as the device may
        buffer = trimmed.directBuffer(4096);
        assertNotSame(memory, unwrapped(buffer).block().region().memory());
        buffer.release();
    }

    @Test
    void shouldMakeRoomWhereTheDeviceRefuses() {
        var provider = new MemoryOnlyProvider().refusingMoreThan(8 * MIB);
        var refused = new RegisteredByteBufAllocator(provider, 100 * MIB);
        for (int bytes : new int[] {4096, 4 * MIB, 700_000, 8 * MIB}) {
            List<ByteBuf> buffers = fill(refused, bytes);
            assertTrue((long) buffers.size() * bytes >= 4 * MIB, bytes + ": only " + buffers.size());
            buffers.forEach(ByteBuf::release);
        }
    }

    @Test
    void shouldNotHandOutMemoryTwiceWhileItGoesToOtherSizes() throws Exception {
        var limited = new RegisteredByteBufAllocator(new MemoryOnlyProvider(), 6 * MIB);
        int threads = 4;
        AtomicInteger running = new AtomicInteger(threads);
        ExecutorService executor = Executors.newFixedThreadPool(threads + 1);
        List<Future<Void>> results = new ArrayList<>();
        for (int thread = 0; thread < threads; thread++) {
            int id = thread;
            results.add(executor.submit(() -> {
                try {
                    useManySizes(limited, id);
                } finally {
                    running.decrementAndGet();
                }
                return null;
            }));
        }
        results.add(executor.submit(() -> {
            while (running.get() > 0) {
                limited.trim();
            }
            return null;
        }));
        for (Future<Void> result : results) {
            result.get(300, TimeUnit.SECONDS);
        }
        executor.shutdown();
        limited.trim();
        limited.trim();
        assertEquals(0, limited.registeredBytes());
    }

    private static void useManySizes(RegisteredByteBufAllocator limited, int thread) {
        Random random = new Random(thread);
        for (int round = 0; round < 300; round++) {
            int bytes = 16 << random.nextInt(17);
            List<ByteBuf> mine = new ArrayList<>();
            for (int i = 0; i < 30; i++) {
                mine.add(limited.directBuffer(bytes).setLong(0, (long) thread << 32 | i).setLong(bytes - 8, i));
            }
            for (int i = 0; i < mine.size(); i++) {
                assertEquals((long) thread << 32 | i, mine.get(i).getLong(0));
                assertEquals(i, mine.get(i).getLong(bytes - 8));
                mine.get(i).release();
            }
        }
    }

    @Test
    void shouldNotPoolWhatIsTooLarge() {
        ByteBuf buffer = allocator.directBuffer(RegisteredByteBufAllocator.MAX_POOLED_BYTES + 1);
        assertFalse(allocator.isRegistered(buffer, 0, 1));
        assertEquals(1, allocator.unregisteredBuffers());
        assertEquals(0, allocator.registeredBytes());
        buffer.release();
    }

    @Test
    void shouldFindMemoryThroughDerivedBuffers() {
        ByteBuf buffer = allocator.directBuffer(1000).writeZero(1000);
        for (ByteBuf derived : List.of(buffer.slice(10, 900), buffer.duplicate(), buffer.asReadOnly(),
                buffer.slice(10, 900).slice(5, 800).duplicate(), Unpooled.unreleasableBuffer(buffer))) {
            assertTrue(allocator.isRegistered(derived, 100, 700));
        }
        RegisteredPieces whole = allocator.newPieces(1);
        RegisteredPieces part = allocator.newPieces(1);
        assertTrue(whole.find(buffer, 0, 1000));
        assertTrue(part.find(buffer.slice(10, 900).slice(5, 800), 7, 100));
        assertSame(whole.region(0), part.region(0));
        assertEquals(whole.offset(0) + 22, part.offset(0));
        buffer.release();
    }

    @Test
    void shouldFindMemoryWithoutAddresses() {
        RegisteredPieces byAddress = allocator.newPieces(2);
        RegisteredPieces byRoot = new RegisteredPieces(allocator.regions(), 2, false);
        List<ByteBuf> buffers = new ArrayList<>();
        for (int bytes : new int[] {10, 300, 5000, 70_000, 3 * MIB, 16 * MIB}) {
            ByteBuf buffer = allocator.directBuffer(bytes).writerIndex(bytes);
            buffers.add(buffer);
            for (ByteBuf view : List.of(buffer, buffer.slice(), buffer.slice(3, bytes - 3).duplicate(),
                    buffer.slice(1, bytes - 1).slice(2, bytes - 3).asReadOnly())) {
                assertTrue(byRoot.find(view, 2, view.capacity() - 2));
                assertEquals(1, byRoot.count());
                if (byAddress.find(view, 2, view.capacity() - 2)) {
                    assertSame(byAddress.region(0), byRoot.region(0));
                    assertEquals(byAddress.offset(0), byRoot.offset(0));
                }
            }
        }
        CompositeByteBuf composite = allocator.compositeBuffer().addComponents(true, buffers.get(0).retainedSlice(),
                buffers.get(1).retainedSlice());
        assertTrue(byRoot.find(composite, 5, 100));
        assertEquals(2, byRoot.count());
        ByteBuf elsewhere = new RegisteredByteBufAllocator(new MemoryOnlyProvider(), MIB).directBuffer(100);
        assertFalse(byRoot.find(elsewhere, 0, 100));
        elsewhere.release();
        composite.release();
        buffers.forEach(ByteBuf::release);
    }

    @Test
    void shouldSplitCompositesIntoPieces() {
        CompositeByteBuf inner = allocator.compositeBuffer().addComponents(true, allocator.directBuffer(100).writeZero(100),
                allocator.directBuffer(100).writeZero(100));
        CompositeByteBuf outer = allocator.compositeBuffer().addComponents(true, allocator.directBuffer(100).writeZero(100),
                Unpooled.EMPTY_BUFFER, inner);
        RegisteredPieces pieces = allocator.newPieces(3);
        assertTrue(pieces.find(outer, 0, 300));
        assertEquals(3, pieces.count());
        assertTrue(pieces.find(outer, 50, 100));
        assertEquals(2, pieces.count());
        assertTrue(pieces.find(outer, 100, 100));
        assertEquals(1, pieces.count());
        if (PlatformDependent.hasUnsafe()) {
            assertTrue(pieces.find(outer.slice(50, 200), 25, 150));
            assertEquals(3, pieces.count());
        }
        assertFalse(allocator.newPieces(2).find(outer, 0, 300));
        assertTrue(pieces.find(outer, 300, 0));
        assertEquals(0, pieces.count());
        outer.addComponent(true, Unpooled.wrappedBuffer(new byte[10]));
        assertFalse(allocator.newPieces(9).find(outer, 0, 310));
        assertTrue(allocator.newPieces(9).find(outer, 0, 300));
        outer.release();
    }

    @Test
    void shouldNotFindMemoryOfOthers() {
        ByteBuf heap = Unpooled.buffer(100);
        ByteBuf direct = Unpooled.directBuffer(100);
        var other = new RegisteredByteBufAllocator(new MemoryOnlyProvider(), MIB);
        ByteBuf elsewhere = other.directBuffer(100);
        assertFalse(allocator.isRegistered(heap, 0, 100));
        assertFalse(allocator.isRegistered(direct, 0, 100));
        assertFalse(allocator.isRegistered(elsewhere, 0, 100));
        assertTrue(allocator.isRegistered(heap, 0, 0));
        heap.release();
        direct.release();
        elsewhere.release();
    }

    @Test
    void shouldTrackLeaks() {
        assertEquals(ResourceLeakDetector.Level.PARANOID, ResourceLeakDetector.getLevel());
        ByteBuf buffer = allocator.directBuffer(100);
        assertNotSame(RegisteredByteBuf.class, buffer.getClass());
        assertNotNull(buffer.touch("here"));
        buffer.release();
    }

    @Test
    void shouldBeOnePerProvider() {
        var provider = new MemoryOnlyProvider();
        assertSame(RegisteredByteBufAllocator.of(provider), RegisteredByteBufAllocator.of(provider));
        assertNotSame(RegisteredByteBufAllocator.of(provider), RegisteredByteBufAllocator.of(new MemoryOnlyProvider()));
    }

    @Test
    void shouldBehaveLikeEveryOtherBuffer() {
        Random random = new Random(1);
        ByteBuf ours = allocator.directBuffer(64);
        ByteBuf reference = Unpooled.buffer(64);
        for (int i = 0; i < 20_000; i++) {
            int operation = random.nextInt(12);
            long value = random.nextLong();
            BufferOperations.apply(operation, value, ours);
            BufferOperations.apply(operation, value, reference);
            assertEquals(reference.readerIndex(), ours.readerIndex(), "operation " + operation);
            assertEquals(reference.writerIndex(), ours.writerIndex(), "operation " + operation);
        }
        assertEquals(reference, ours);
        ours.release();
        reference.release();
    }

    @Test
    void shouldCopyWithinABuffer() {
        ByteBuf buffer = allocator.directBuffer(10).writeBytes(new byte[] {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
        buffer.setBytes(2, buffer, 0, 8);
        assertEquals(Unpooled.wrappedBuffer(new byte[] {0, 1, 0, 1, 2, 3, 4, 5, 6, 7}), buffer);
        buffer.release();
    }

    @Test
    void shouldNeverHandOutMemoryTwice() throws Exception {
        int threads = 4;
        BlockingQueue<ByteBuf> passedOn = new ArrayBlockingQueue<>(64); // released by another thread than it was taken by
        ExecutorService executor = Executors.newFixedThreadPool(threads);
        List<Future<Void>> results = new ArrayList<>();
        for (int thread = 0; thread < threads; thread++) {
            results.add(executor.submit(user(thread, passedOn)));
        }
        for (Future<Void> result : results) {
            result.get(300, TimeUnit.SECONDS);
        }
        executor.shutdown();
        passedOn.forEach(ByteBuf::release);
    }

    private Callable<Void> user(int thread, BlockingQueue<ByteBuf> passedOn) {
        return () -> {
            Random random = new Random(thread);
            Queue<ByteBuf> mine = new ArrayDeque<>();
            for (int i = 0; i < 20_000; i++) {
                int bytes = 16 + random.nextInt(3000);
                mine.add(allocator.directBuffer(bytes).setLong(0, (long) thread << 32 | i).setLong(bytes - 8, i)
                        .writerIndex(bytes));
                if (mine.size() > 30) {
                    ByteBuf oldest = mine.remove();
                    assertEquals(thread, oldest.getInt(0));
                    assertEquals(oldest.getInt(4), oldest.getLong(oldest.writerIndex() - 8));
                    if (random.nextInt(3) > 0 || !passedOn.offer(oldest)) {
                        oldest.release();
                    }
                    ByteBuf other = random.nextBoolean() ? passedOn.poll() : null;
                    if (other != null) {
                        assertEquals(other.getInt(4), other.getLong(other.writerIndex() - 8));
                        other.release();
                    }
                }
            }
            mine.forEach(ByteBuf::release);
            return null;
        };
    }
}
