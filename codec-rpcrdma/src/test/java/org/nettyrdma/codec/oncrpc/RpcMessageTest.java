package org.nettyrdma.codec.oncrpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.codec.oncrpc.Hex.hex;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RpcMessageTest {

    private static final List<DataItem> ITEMS = List.of(new DataItem(4, 3));
    private static final ReplySpace SPACE = new ReplySpace(128, List.of(4096, 0));

    private final RpcMessage message = new RpcMessage(hex("00000003 61626300"), ITEMS, SPACE);

    @Test
    void shouldKeepWhatItKnowsWithOtherContent() {
        for (RpcMessage other : List.of(message.copy(), message.duplicate(), message.retainedDuplicate(),
                message.replace(hex("00000003 61626300")))) {
            assertEquals(ITEMS, other.dataItems());
            assertEquals(SPACE, other.replySpace());
            assertEquals(message, other);
            assertEquals(message.hashCode(), other.hashCode());
        }
    }

    @Test
    void shouldShareTheReferenceCountOfItsContent() {
        assertSame(message, message.retain().touch().touch("here"));
        assertSame(message, message.retain(2));
        assertEquals(4, message.content().refCnt());
        assertTrue(message.release(4));
    }

    @Test
    void shouldDifferByWhatIsKnown() {
        assertNotEquals(message, new RpcMessage(message.content(), List.of(), SPACE));
        assertNotEquals(message, new RpcMessage(message.content(), ITEMS, null));
        assertNotEquals(message, new RpcMessage(hex("00000000"), ITEMS, SPACE));
    }

    @Test
    void shouldNotChangeWithTheListsItWasMadeOf() {
        List<DataItem> items = new ArrayList<>(ITEMS);
        List<Integer> sizes = new ArrayList<>(List.of(1));
        RpcMessage made = new RpcMessage(hex("00"), items, new ReplySpace(1, sizes));
        items.clear();
        sizes.clear();
        assertEquals(ITEMS, made.dataItems());
        assertEquals(List.of(1), made.replySpace().maxDataItemBytes());
    }

    @Test
    void shouldMoveItems() {
        assertEquals(new DataItem(44, 3), new DataItem(4, 3).movedBy(40));
        assertThrows(ArithmeticException.class, () -> new DataItem(4, 3).movedBy(Integer.MAX_VALUE));
    }

    @Test
    void shouldRefuseNegativeSizes() {
        assertThrows(IllegalArgumentException.class, () -> new DataItem(-1, 0));
        assertThrows(IllegalArgumentException.class, () -> new DataItem(0, -1));
        assertThrows(IllegalArgumentException.class, () -> new ReplySpace(-1));
        assertThrows(IllegalArgumentException.class, () -> new ReplySpace(0, List.of(-1)));
    }
}
