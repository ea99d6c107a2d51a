package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class WorkRequestIdTest {

    private static final int[] CHANNEL_IDS = {0, 1, 0x7FFFFFFF, 0x80000000, -1};
    private static final int[] SLOTS = {0, 1, 0x7FFFFF, 0x800000, WorkRequestId.MAX_SLOT};

    @Test
    void shouldReturnEveryFieldForEveryKind() {
        for (int channelId : CHANNEL_IDS) {
            for (int kind = 0; kind <= 0xFF; kind++) {
                for (int slot : SLOTS) {
                    assertFields(channelId, kind, slot);
                }
            }
        }
    }

    @Test
    void shouldReturnEveryFieldForEverySlot() {
        for (int slot = 0; slot <= WorkRequestId.MAX_SLOT; slot++) {
            assertFields(-1, WorkRequestId.SEND, slot);
        }
    }

    @Test
    void shouldReturnEveryFieldForEverySingleBitOfTheChannelId() {
        for (int bit = 0; bit < Integer.SIZE; bit++) {
            assertFields(1 << bit, WorkRequestId.RECEIVE, 0);
            assertFields(~(1 << bit), WorkRequestId.INVALIDATE, WorkRequestId.MAX_SLOT);
        }
    }

    @Test
    void shouldPlaceTheFieldsAsDrawn() {
        assertEquals(0x89ABCDEF_02_345678L, WorkRequestId.encode(0x89ABCDEF, 2, 0x345678));
    }

    private static void assertFields(int channelId, int kind, int slot) {
        long id = WorkRequestId.encode(channelId, kind, slot);
        assertEquals(channelId, WorkRequestId.channelId(id));
        assertEquals(kind, WorkRequestId.kind(id));
        assertEquals(slot, WorkRequestId.slot(id));
    }
}
