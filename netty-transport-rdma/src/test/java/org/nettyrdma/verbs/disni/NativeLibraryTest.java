package org.nettyrdma.verbs.disni;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.impl.RdmaCmNat;
import java.io.IOException;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

class NativeLibraryTest {

    static final String BUILT = "nettyrdma.nativeLibrary";

    @BeforeAll
    static void loadLibrary() {
        assertEquals(Boolean.getBoolean(BUILT), NativeLibrary.hasExtensions());
    }

    @Test
    @DisabledIfSystemProperty(named = BUILT, matches = "true")
    void shouldSayWhatToDoWhereThereIsNoLibrary() {
        String message = NativeLibrary.unavailabilityCause().getMessage();
        assertTrue(message.contains("classifier linux-x86_64"), message);
        assertTrue(message.contains("-Djava.library.path="), message);
        assertTrue(message.contains("libdisni.so"), message);
    }

    @Test
    @EnabledIfSystemProperty(named = BUILT, matches = "true")
    void shouldFindTheLibraryThatWasBuilt() {
        assertNull(NativeLibrary.unavailabilityCause());
        assertEquals(NativeExtensions.ABI_VERSION, NativeExtensions.abiVersion());
    }

    @Test
    void shouldRefuseALibraryOfAnotherVersion() {
        NativeLibrary.requireVersion(NativeExtensions.ABI_VERSION);
        String message = assertThrows(UnsatisfiedLinkError.class,
                () -> NativeLibrary.requireVersion(NativeExtensions.ABI_VERSION + 1)).getMessage();
        assertTrue(message.contains("version " + (NativeExtensions.ABI_VERSION + 1)), message);
        assertTrue(message.contains("same release"), message);
    }

    @Test
    void shouldAskForDisniWhereItIsNotOnTheClassPath() throws Exception {
        URL ours = NativeLibrary.class.getProtectionDomain().getCodeSource().getLocation();
        try (URLClassLoader withoutDisni = new URLClassLoader(new URL[] {ours}, ClassLoader.getPlatformClassLoader())) {
            Method method = withoutDisni.loadClass(NativeLibrary.class.getName()).getDeclaredMethod("unavailabilityCause");
            method.setAccessible(true);
            String message = ((Throwable) method.invoke(null)).getMessage();
            assertTrue(message.contains("com.ibm.disni:disni:2.1"), message);
        }
    }

    @Test
    void shouldTellAMissingLibraryBelowFromAMissingLibrary() {
        String advice = NativeLibrary.advice(new UnsatisfiedLinkError(
                "/x/libdisni.so: librdmacm.so.1: cannot open shared object file: No such file or directory"));
        assertTrue(advice.contains("librdmacm1"), advice);
        advice = NativeLibrary.advice(new UnsatisfiedLinkError("Native Library /x/libdisni.so already loaded in another "
                + "classloader"));
        assertTrue(advice.contains("class loader"), advice);
        advice = NativeLibrary.advice(new UnsatisfiedLinkError("no disni in java.library.path: /usr/lib"));
        assertTrue(advice.contains("-Pnative"), advice);
    }

    @Test
    @EnabledIfSystemProperty(named = BUILT, matches = "true")
    void shouldNameVerbAndErrorWhereThereIsNoDevice() throws Exception {
        int before = NativeExtensions.liveHandles();
        RdmaCm cm = new RdmaCmNat(NativeDevice.newDispatcher());
        try {
            cm.createEventChannel().destroyEventChannel();
        } catch (IOException e) {
            assertTrue(e.getMessage().matches("rdma_create_event_channel failed: .+ \\(errno \\d+\\)"), e.getMessage());
        }
        assertEquals(before, NativeExtensions.liveHandles());
    }

    @Test
    @EnabledIfSystemProperty(named = BUILT, matches = "true")
    void shouldWakeAnAwaitThatComesLaterOrEarlier() throws Exception {
        long wakeup = NativeExtensions.createWakeup();
        long[] sources = {wakeup};
        assertEquals(0, NativeExtensions.await(sources, 1, 0));
        NativeExtensions.wakeup(wakeup);
        NativeExtensions.wakeup(wakeup);
        assertEquals(1, NativeExtensions.await(sources, 1, -1));
        assertEquals(0, NativeExtensions.await(sources, 1, 1_000));

        Thread waker = new Thread(() -> {
            try {
                NativeExtensions.wakeup(wakeup);
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
        waker.start();
        assertEquals(1, NativeExtensions.await(sources, 1, -1));
        waker.join();

        NativeExtensions.destroyWakeup(wakeup);
        assertNotNull(assertThrows(IOException.class, () -> NativeExtensions.wakeup(wakeup)).getMessage());
        assertThrows(IOException.class, () -> NativeExtensions.await(sources, 1, 0));
        assertThrows(IOException.class, () -> NativeExtensions.destroyWakeup(wakeup));
    }

    @Test
    @EnabledIfSystemProperty(named = BUILT, matches = "true")
    void shouldGiveEveryObjectAHandleThatIsNeverUsedAgain() throws Exception {
        int before = NativeExtensions.liveHandles();
        Set<Long> seen = new HashSet<>();
        for (int i = 0; i < 5_000; i++) {
            long wakeup = NativeExtensions.createWakeup();
            assertTrue(wakeup > 0);
            assertTrue(seen.add(wakeup));
            NativeExtensions.destroyWakeup(wakeup);
        }
        assertEquals(before, NativeExtensions.liveHandles());
    }
}
