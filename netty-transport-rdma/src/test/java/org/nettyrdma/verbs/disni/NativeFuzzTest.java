package org.nettyrdma.verbs.disni;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.impl.NativeDispatcher;
import io.netty.util.internal.PlatformDependent;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.nettyrdma.testing.RequiresRdmaDevice;

/**
 * Calls every native method with numbers that name nothing, something that is gone, something of another kind, and, where there
 * is a device, something that lives. The process must survive, and every method must return or throw an {@link IOException}.
 */
class NativeFuzzTest {

    private static final int MEMORY_BYTES = 64 * 1024;

    /** Which parameters of DiSNI's methods are addresses, by design: these get memory that is ours, or nothing. */
    private static final Map<String, Set<Integer>> ADDRESSES = Map.of(
            "_bindAddr", Set.of(1),
            "_resolveAddr", Set.of(1, 2),
            "_getCmEvent", Set.of(1, 2),
            "_connect", Set.of(3),
            "_getSrcAddr", Set.of(1),
            "_getDstAddr", Set.of(1),
            "_regMr", Set.of(1, 4, 5, 6),
            "_postSend", Set.of(1),
            "_postRecv", Set.of(1),
            "_pollCQ", Set.of(2));

    /** These wait for as long as their last parameter says. */
    private static final Set<String> WAITING = Set.of("_getCmEvent", "_getCqEvent", "await");

    private final Random random = new Random(20_260_101);
    private final ByteBuffer memory = NativeDevice.direct(MEMORY_BYTES);
    private final List<Long> handles = new ArrayList<>(List.of(0L, 1L, -1L, Long.MIN_VALUE, Long.MAX_VALUE, 0xdeadbeefL));
    private final List<Long> created = Collections.synchronizedList(new ArrayList<>());

    @BeforeAll
    static void loadLibrary() {
        assertEquals(Boolean.getBoolean(NativeLibraryTest.BUILT), NativeLibrary.hasExtensions());
    }

    @Test
    @EnabledIfSystemProperty(named = NativeLibraryTest.BUILT, matches = "true")
    void shouldSurviveNumbersThatNameNothing() throws Exception {
        int before = NativeExtensions.liveHandles();
        for (int i = 0; i < 100; i++) {
            long stale = NativeExtensions.createWakeup();
            NativeExtensions.destroyWakeup(stale);
            handles.add(stale);
        }
        NativeDispatcher dispatcher = NativeDevice.newDispatcher();
        callAll(dispatcher, 300);
        for (long handle : created) {
            destroy(dispatcher, handle);
        }
        assertEquals(before, NativeExtensions.liveHandles());
    }

    @Test
    @RequiresRdmaDevice
    void shouldSurviveWrongUseOfWhatIsClosedOrLives() throws Exception {
        NativeDevice closed = new NativeDevice();
        addHandles(closed);
        try (NativeConnection connection = new NativeConnection(closed).connect()) {
            addHandles(connection);
        }
        closed.closeObjects();
        callAll(NativeDevice.newDispatcher(), 30);
        NativeDevice live = new NativeDevice();
        addHandles(live);
        addHandles(new NativeConnection(live).connect());
        handles.add(NativeDevice.handle(live.register(memory, NativeExtensions.ACCESS_LOCAL_WRITE)));
        callAll(live.dispatcher, 100);
        // What the calls left behind is not known; that the device still works is all that can be asked for.
        new NativeConnection(new NativeDevice()).connect().close();
    }

    @Test
    @RequiresRdmaDevice
    void shouldSurviveWrongUseByManyThreads() throws Exception {
        NativeDevice device = new NativeDevice();
        for (int i = 0; i < 4; i++) {
            addHandles(device);
            addHandles(new NativeConnection(device).connect());
        }
        ExecutorService threads = Executors.newFixedThreadPool(4);
        List<Callable<Void>> calls = Collections.nCopies(4, () -> {
            callAll(device.dispatcher, 50);
            return null;
        });
        for (Future<Void> result : threads.invokeAll(calls)) {
            result.get();
        }
        threads.shutdown();
        new NativeConnection(new NativeDevice()).connect().close();
    }

    private void addHandles(NativeDevice device) throws IOException {
        RdmaCmId id = device.newId(device.events);
        for (Object object : List.of(device.events, device.listener, device.context, device.domain, device.completionEvents,
                device.completions, id)) {
            handles.add(NativeDevice.handle(object));
        }
        id.destroyId();
    }

    private void addHandles(NativeConnection connection) throws IOException {
        IbvMr region = connection.device.register(NativeDevice.direct(512), NativeExtensions.ACCESS_LOCAL_WRITE);
        handles.addAll(List.of(NativeDevice.handle(connection.client), NativeDevice.handle(connection.server),
                connection.clientQueuePair,
                connection.serverQueuePair, NativeDevice.handle(region)));
        connection.device.deregister(region);
    }

    private void callAll(NativeDispatcher dispatcher, int rounds) throws Exception {
        List<Method> methods = Stream.concat(Arrays.stream(NativeDispatcher.class.getDeclaredMethods()),
                        Arrays.stream(NativeExtensions.class.getDeclaredMethods()))
                .filter(method -> Modifier.isNative(method.getModifiers()))
                .sorted(Comparator.comparing(Method::getName))
                .toList();
        assertEquals(79, methods.size());
        for (int i = 0; i < rounds; i++) {
            for (Method method : methods) {
                method.setAccessible(true);
                call(dispatcher, method);
            }
        }
    }

    private void call(NativeDispatcher dispatcher, Method method) throws IllegalAccessException {
        Class<?>[] types = method.getParameterTypes();
        Object[] arguments = new Object[types.length];
        for (int i = 0; i < types.length; i++) {
            boolean last = i == types.length - 1;
            arguments[i] = last && WAITING.contains(method.getName()) ? waitingTime(types[i]) : argument(method, i, types[i]);
        }
        try {
            Object result = method.invoke(dispatcher, arguments);
            if (types.length == 0 && method.getReturnType() == long.class) {
                created.add((Long) result);
            }
        } catch (InvocationTargetException e) {
            assertTrue(e.getCause() instanceof IOException, () -> method + " threw " + e.getCause());
        }
    }

    private static Object waitingTime(Class<?> type) {
        return type == int.class ? (Object) 0 : (Object) 0L;
    }

    private Object argument(Method method, int index, Class<?> type) {
        if (type == long.class) {
            boolean address = ADDRESSES.getOrDefault(method.getName(), Set.of()).contains(index);
            return address ? address() : handle();
        } else if (type == int.class) {
            return random.nextInt(4) == 0 ? random.nextInt() : random.nextInt(64) - 8;
        } else if (type == short.class) {
            return (short) (random.nextBoolean() ? 0x106 : random.nextInt());
        } else if (type == byte.class) {
            return (byte) random.nextInt();
        } else if (type == ByteBuffer.class) {
            return buffer();
        } else if (type == byte[].class) {
            return random.nextInt(8) == 0 ? null : new byte[List.of(0, 6, 22, 56, 255, 256, 5_000).get(random.nextInt(7))];
        } else if (type == long[].class) {
            return random.nextInt(8) == 0 ? null : random.longs(random.nextInt(40)).map(any -> handle()).toArray();
        }
        throw new AssertionError("a parameter of " + method);
    }

    private long handle() {
        return switch (random.nextInt(4)) {
            case 0 -> random.nextLong();
            // Looks like a handle: a generation, a kind, and an index.
            case 1 -> (1L + random.nextInt(300)) << 32 | random.nextLong(16) << 24 | random.nextInt(1_200);
            default -> handles.get(random.nextInt(handles.size()));
        };
    }

    /** Memory of ours, all zeros so that no list in it goes on, large enough for whatever the method reads or writes; or null. */
    private long address() {
        if (random.nextInt(4) == 0) {
            return 0;
        }
        memory.put(0, new byte[MEMORY_BYTES]);
        return PlatformDependent.directBufferAddress(memory);
    }

    private ByteBuffer buffer() {
        ByteBuffer noise = NativeDevice.direct(512);
        for (int i = 0; i < noise.capacity(); i += Long.BYTES) {
            noise.putLong(i, random.nextBoolean() ? handle() : random.nextInt(12));
        }
        return switch (random.nextInt(6)) {
            case 0 -> null;
            case 1 -> ByteBuffer.allocate(512);
            case 2 -> noise.slice(1, 500);
            case 3 -> noise.slice(0, 8 * random.nextInt(64));
            default -> noise;
        };
    }

    /** Destroys a wake-up or an event channel, the two that need nothing to be created from, if the calls did not find it. */
    private static void destroy(NativeDispatcher dispatcher, long handle) {
        try {
            if (dispatcher._destroyEventChannel(handle) < 0) {
                NativeExtensions.destroyWakeup(handle);
            }
        } catch (IOException e) {
            assertTrue(e.getMessage().contains("Bad file descriptor"), e.getMessage());
        }
    }
}
