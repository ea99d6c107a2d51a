package org.nettyrdma.verbs.support;

import io.netty.util.internal.PlatformDependent;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Allocates direct memory of the JVM, and frees it without the garbage collector. At the limit of direct memory the JVM waits
 * half a second for the garbage collector before it refuses. This class lets that happen now and then, not with every buffer.
 *
 * <p>Safe for use from any thread.
 */
public final class DirectMemory {

    private static final int PAGE_BYTES = 4096;
    private static final int MAX_PAGES_BYTES = Integer.MAX_VALUE - (PAGE_BYTES - 1);
    /** After 127 calls Java makes a class of a method handle. Where there is no heap for that, the call fails. */
    private static final int CALLS_UNTIL_COMPILED = 128;

    /** What {@link #allocatePages} has handed out, and the memory that it is a part of. */
    private static final Map<ByteBuffer, ByteBuffer> PAGES = Collections.synchronizedMap(new IdentityHashMap<>());

    private static final MethodHandle CLEANER = PlatformDependent.hasUnsafe() ? findCleaner() : null;

    /** While the memory is used up the JVM is asked to look for more this often: that helps if the garbage collector frees. */
    private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(CLEANER == null ? 1 : 10);

    private static final int WORTH_WAITING_BYTES = 1 << 20;

    private static final AtomicLong NEXT_WAIT_NANOS = new AtomicLong(System.nanoTime());

    private DirectMemory() {
    }

    /** Netty's way of freeing differs between its series, and refuses buffers that are not of its making in one of them. */
    private static MethodHandle findCleaner() {
        MethodHandle cleaner = null;
        try {
            Class<?> type = Class.forName("sun.misc.Unsafe");
            Field unsafe = type.getDeclaredField("theUnsafe");
            unsafe.setAccessible(true);
            cleaner = MethodHandles.lookup().findVirtual(type, "invokeCleaner",
                    MethodType.methodType(void.class, ByteBuffer.class)).bindTo(unsafe.get(null));
            for (int i = 0; i < CALLS_UNTIL_COMPILED; i++) { // now, as later the memory that is to be freed would be lost
                cleaner.invokeExact(ByteBuffer.allocateDirect(1));
            }
            return cleaner;
        } catch (OutOfMemoryError e) {
            return cleaner; // others have used the memory up: it is compiled later
        } catch (Throwable e) {
            return null; // the garbage collector frees then
        }
    }

    private static ByteBuffer tryAllocate(int bytes) {
        boolean isShort = bytes > limitBytes() - usedBytes();
        if (isShort && !isTimeToWait()) {
            return null;
        }
        try {
            ByteBuffer memory = ByteBuffer.allocateDirect(bytes);
            if (isShort && CLEANER == null) {
                NEXT_WAIT_NANOS.set(System.nanoTime()); // the garbage collector is freeing, and may have more for the next one
            }
            return memory;
        } catch (OutOfMemoryError e) {
            return null;
        }
    }

    /**
     * Allocates memory.
     *
     * @param bytes its size
     * @return a direct buffer, all 0; to be given back with {@link #free}
     * @throws OutOfMemoryError if the JVM has no more, with a message that says how much is in use and by which option there can
     *         be more
     */
    public static ByteBuffer allocate(int bytes) {
        ByteBuffer memory = tryAllocate(bytes);
        if (memory == null) {
            throw new OutOfMemoryError("no direct memory for " + bytes + " bytes: " + usedBytes() + " of " + limitBytes()
                    + " bytes are in use (-XX:MaxDirectMemorySize)");
        }
        return memory;
    }

    /**
     * Allocates memory that begins with a page of 4096 bytes.
     *
     * @param bytes its size
     * @return a direct buffer, all 0; to be given back with {@link #freePages}
     * @throws IllegalArgumentException if the size is less than 1
     * @throws OutOfMemoryError if the JVM has no more, with a message that says how much is in use and by which option there can
     *         be more
     */
    public static ByteBuffer allocatePages(int bytes) {
        requireSize(bytes);
        if (bytes > MAX_PAGES_BYTES) {
            throw new OutOfMemoryError(bytes + " bytes in one piece (limit: " + MAX_PAGES_BYTES + ')');
        }
        ByteBuffer memory = allocate(bytes + PAGE_BYTES - 1);
        int distance = memory.alignmentOffset(0, PAGE_BYTES);
        ByteBuffer pages = memory.slice(distance == 0 ? 0 : PAGE_BYTES - distance, bytes);
        PAGES.put(pages, memory);
        return pages;
    }

    /**
     * Checks the size that a user asks for.
     *
     * @param bytes the size
     * @throws IllegalArgumentException if it is less than 1
     */
    public static void requireSize(int bytes) {
        if (bytes < 1) {
            throw new IllegalArgumentException("bytes: " + bytes + " (expected: > 0)");
        }
    }

    /**
     * Frees what {@link #allocatePages} has returned.
     *
     * @param pages the same object
     * @throws IllegalArgumentException if it is another one, or was freed before
     */
    public static void freePages(ByteBuffer pages) {
        ByteBuffer memory = PAGES.remove(pages);
        if (memory == null) {
            throw new IllegalArgumentException("memory: " + pages
                    + " (expected: memory of this provider that was not given back)");
        }
        free(memory);
    }

    private static boolean isTimeToWait() {
        long now = System.nanoTime();
        long next = NEXT_WAIT_NANOS.get();
        return now - next >= 0 && NEXT_WAIT_NANOS.compareAndSet(next, now + RETRY_NANOS);
    }

    /**
     * Whether memory is freed when it is given back.
     *
     * @return {@code false} without {@code sun.misc.Unsafe}: the garbage collector frees then, when it finds the memory
     */
    public static boolean isFreedAtOnce() {
        return CLEANER != null;
    }

    /**
     * Frees memory, which nobody may use any more.
     *
     * @param memory from {@link #allocate}, or a mapped file, and nothing else
     */
    public static void free(ByteBuffer memory) {
        if (CLEANER == null) {
            if (memory.capacity() >= WORTH_WAITING_BYTES) {
                NEXT_WAIT_NANOS.set(System.nanoTime()); // the garbage collector has something to find now
            }
            return;
        }
        try {
            CLEANER.invokeExact(memory);
        } catch (Throwable e) {
            throw new IllegalStateException("memory cannot be freed: " + memory, e);
        }
    }

    /** Has Java open the files that allocating needs, while there are descriptors: what fails for want of them fails for good. */
    static void prepare() {
        limitBytes();
    }

    private static long usedBytes() {
        return JvmPool.DIRECT.getTotalCapacity();
    }

    private static long limitBytes() {
        return JvmPool.LIMIT_BYTES;
    }

    /** Found when it is first needed, or an event loop is made. */
    private static final class JvmPool {

        static final long LIMIT_BYTES = PlatformDependent.estimateMaxDirectMemory();
        static final BufferPoolMXBean DIRECT = ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(pool -> pool.getName().equals("direct")).findFirst().orElseThrow();
    }
}
