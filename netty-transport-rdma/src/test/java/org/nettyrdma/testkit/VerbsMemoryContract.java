package org.nettyrdma.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.nettyrdma.verbs.Capabilities;
import org.nettyrdma.verbs.MemoryRegion;

/** What a provider says of itself, and the memory that it allocates and registers. A part of {@link VerbsContract}. */
public abstract class VerbsMemoryContract extends VerbsFixture {

    @Test
    void shouldDescribeItself() {
        Capabilities capabilities = provider().capabilities();
        assertNull(provider().unavailabilityCause());
        assertTrue(provider().name().matches("[a-z0-9-]+"));
        assertTrue(capabilities.maxGatherElements() >= 1);
        assertTrue(capabilities.maxReadScatterElements() >= 1);
        assertTrue(capabilities.maxQueueDepth() >= 1024);
        assertTrue(capabilities.maxReadDepth() >= 1 && capabilities.maxReadDepth() <= 16383);
        assertTrue(capabilities.maxMessageBytes() >= 1 << 20);
        assertTrue(capabilities.maxPrivateDataBytes() == 0 || capabilities.maxPrivateDataBytes() >= 8);
    }

    @Test
    void shouldRegisterDirectMemoryOnly() throws IOException {
        assertThrows(IllegalArgumentException.class, () -> provider().registerMemory(ByteBuffer.allocate(10)));
        ByteBuffer memory = provider().allocate(10);
        MemoryRegion region = provider().registerMemory(memory);
        assertEquals(10, region.memory().capacity());
        region.memory().put(9, (byte) 7);
        assertEquals(7, memory.get(9));
        region.close();
        provider().free(memory);
    }

    @Test
    void shouldAllocateMemoryThatBeginsWithAPage() throws IOException {
        for (int bytes : new int[] {1, 4095, 4096, 65_536, 1 << 24}) {
            ByteBuffer memory = provider().allocate(bytes);
            assertTrue(memory.isDirect());
            assertFalse(memory.isReadOnly());
            assertEquals(bytes, memory.capacity());
            assertEquals(0, memory.position());
            assertEquals(bytes, memory.limit());
            assertEquals(0, memory.alignmentOffset(0, 4096));
            assertEquals(-1, memory.mismatch(ByteBuffer.allocate(bytes)), "the bytes are 0");
            byte[] ones = new byte[bytes];
            Arrays.fill(ones, (byte) -1);
            memory.put(ones);
            provider().free(memory);
        }
    }

    @Test
    void shouldNotGiveMemoryToTwo() throws IOException {
        List<ByteBuffer> pieces = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            pieces.add(provider().allocate(100_000));
            pieces.get(i).putInt(0, i).putInt(99_996, i);
        }
        for (int i = 0; i < 20; i += 2) {
            provider().free(pieces.get(i));
            pieces.set(i, provider().allocate(100_000).putInt(0, i).putInt(99_996, i));
        }
        for (int i = 0; i < 20; i++) {
            assertEquals(i, pieces.get(i).getInt(0));
            assertEquals(i, pieces.get(i).getInt(99_996));
            provider().free(pieces.get(i));
        }
    }

    @Test
    void shouldTakeBackOnlyWhatItHasAllocated() throws IOException {
        ByteBuffer memory = provider().allocate(4096);
        assertThrows(IllegalArgumentException.class, () -> provider().free(ByteBuffer.allocateDirect(4096)));
        assertThrows(IllegalArgumentException.class, () -> provider().free(memory.duplicate()));
        provider().free(memory);
        assertThrows(IllegalArgumentException.class, () -> provider().free(memory));
    }

    /** In JVMs of their own that know the provider's name and open no device: on several devices it is the same. */
    @Test
    @DisabledIfSystemProperty(named = "nettyrdma.shortMemory", matches = "false")
    void shouldSayThatThereIsNoMoreMemory() throws Exception {
        ShortMemory.run(provider().name(), false);
        ShortMemory.run(provider().name(), true);
    }

    @Test
    void shouldRefuseSizesBelowOne() {
        for (int bytes : new int[] {0, -1, Integer.MIN_VALUE}) {
            assertThrows(IllegalArgumentException.class, () -> provider().allocate(bytes));
        }
    }

    @Test
    void shouldRefuseMemoryThatCannotBeWritten() throws IOException {
        ByteBuffer memory = provider().allocate(10);
        assertThrows(IllegalArgumentException.class, () -> provider().registerMemory(memory.asReadOnlyBuffer()));
        provider().free(memory);
    }

    @Test
    void shouldRegisterTheWholeCapacity() throws IOException {
        ByteBuffer memory = provider().allocate(10).position(3).limit(5);
        MemoryRegion region = provider().registerMemory(memory);
        assertEquals(0, region.memory().position());
        assertEquals(10, region.memory().limit());
        assertEquals(3, memory.position());
        region.close();
        region.close();
        provider().free(memory);
    }
}
