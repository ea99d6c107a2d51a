package org.nettyrdma.codec.rpcrdma.characteristics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every event in every state. */
class CharacteristicStatesTest {

    @ParameterizedTest
    @CsvSource({
        "SETTLED, ASKED, OWED", "SETTLED, OFFER, OFFERED", "SETTLED, READY, ",
        "OFFERED, ASKED, ", "OFFERED, OFFER, ", "OFFERED, READY, SETTLED",
        "OWED, ASKED, ", "OWED, OFFER, ", "OWED, READY, SETTLED",
    })
    void shouldMakeOneChangeAfterTheOther(ChangeState state, ChangeState.Event event, ChangeState next) {
        assertEquals(next, state.on(event));
    }

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
