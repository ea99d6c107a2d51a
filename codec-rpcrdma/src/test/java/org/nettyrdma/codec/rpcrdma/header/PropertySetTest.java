package org.nettyrdma.codec.rpcrdma.header;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.nettyrdma.codec.oncrpc.XdrException;
import org.nettyrdma.codec.rpcrdma.header.PropertySet.Ignored;

class PropertySetTest {

    private final XdrType<PropertySet> type = HeaderExtensions.NONE.propertySets();

    @Test
    void shouldHaveTheDefaultsOfTheDraft() {
        assertEquals(4096, PropertySet.EMPTY.get(TransportProperty.RECEIVE_BUFFER_SIZE));
        assertEquals(ReverseRequestSupport.INLINE, PropertySet.EMPTY.get(TransportProperty.REVERSE_REQUEST_SUPPORT));
        assertFalse(PropertySet.EMPTY.contains(TransportProperty.RECEIVE_BUFFER_SIZE));
    }

    @Test
    void shouldTakeTheLastOfSeveralValues() {
        PropertySet set = PropertySet.EMPTY.with(TransportProperty.RECEIVE_BUFFER_SIZE, 1024L)
                .with(TransportProperty.REVERSE_REQUEST_SUPPORT, ReverseRequestSupport.NONE)
                .with(TransportProperty.RECEIVE_BUFFER_SIZE, 8192L);
        assertEquals(8192, set.get(TransportProperty.RECEIVE_BUFFER_SIZE));
        assertEquals(ReverseRequestSupport.NONE, set.get(TransportProperty.REVERSE_REQUEST_SUPPORT));
        assertTrue(set.contains(TransportProperty.RECEIVE_BUFFER_SIZE));
    }

    @Test
    void shouldAcceptSoManyPropertiesAndNoMore() {
        assertEquals(PropertySet.MAX_ENTRIES, type.read(unknown(PropertySet.MAX_ENTRIES)).entries().size());
        XdrException e = assertThrows(XdrException.class, () -> type.read(unknown(PropertySet.MAX_ENTRIES + 1)));
        assertTrue(e.getMessage().contains("256"), e.getMessage());
    }

    @Test
    void shouldRefuseToSendWhatHasNoValue() {
        PropertySet set = new PropertySet(List.of(new Ignored(7, 4)));
        assertThrows(IllegalArgumentException.class, () -> type.lengthOf(set));
        assertThrows(IllegalArgumentException.class, () -> type.write(set, Unpooled.buffer()));
    }

    @Test
    void shouldRefuseToSendWhatIsNoUint32() {
        for (long bytes : new long[] {-1, 1L << 32}) {
            PropertySet set = PropertySet.EMPTY.with(TransportProperty.RECEIVE_BUFFER_SIZE, bytes);
            assertThrows(IllegalArgumentException.class, () -> type.lengthOf(set));
        }
    }

    private static ByteBuf unknown(int count) {
        ByteBuf set = Unpooled.buffer().writeInt(count);
        for (int i = 0; i < count; i++) {
            set.writeInt(0x1000 + i).writeInt(0);
        }
        return set;
    }
}
