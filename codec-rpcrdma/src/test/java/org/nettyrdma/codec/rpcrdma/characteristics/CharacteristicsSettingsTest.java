package org.nettyrdma.codec.rpcrdma.characteristics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

/** What needs no connection. */
class CharacteristicsSettingsTest {

    @Test
    void shouldRefuseSettingsThatMakeNoSense() {
        assertThrows(IllegalArgumentException.class, () -> Characteristics.builder().receiveBufferBytes(1023, 4096));
        assertThrows(IllegalArgumentException.class, () -> Characteristics.builder().receiveBufferBytes(4096, 4095));
        assertThrows(IllegalArgumentException.class, () -> Characteristics.builder().receiveBufferBytes(4096, (1 << 20) + 1));
        assertThrows(IllegalArgumentException.class, () -> Characteristics.builder().responseTimeoutMillis(0));
        assertThrows(IllegalArgumentException.class, () -> Characteristics.builder()
                .property(Characteristics.REQUESTER_REMOTE_INVALIDATION)
                .property(Characteristics.REQUESTER_REMOTE_INVALIDATION).build());
        assertThrows(IndexOutOfBoundsException.class, () -> PropertySubset.of(256));
    }

    @Test
    void shouldCompareSubsetsByTheirPositions() {
        assertEquals(PropertySubset.of(0, 40), PropertySubset.of(40).with(0));
        assertEquals(PropertySubset.of().hashCode(), PropertySubset.EMPTY.hashCode());
        assertEquals("{0, 40}", PropertySubset.of(0, 40).toString());
    }
}
