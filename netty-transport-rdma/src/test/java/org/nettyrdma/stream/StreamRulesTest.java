package org.nettyrdma.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Counters and messages of a stream. */
class StreamRulesTest {

    @Test
    void shouldCountWithSixteenBits() throws Exception {
        SendCredits credits = new SendCredits(384, 8);
        StreamReceiver receiver = new StreamReceiver(384, false);
        receiver.published(1 << 20);
        for (int sent = 0; sent < 200_000; sent++) {
            assertTrue(credits.isAvailable(), "after " + sent);
            credits.sent();
            receiver.arrived(1, 4, 0);
            receiver.take(1);
            if (receiver.isUpdateDue()) {
                credits.update(receiver.newLimit() & 0xffff);
            }
        }
        assertEquals(0, receiver.readableBytes());
    }

    @Test
    void shouldWaitForCredits() throws Exception {
        SendCredits credits = new SendCredits(10, 8);
        credits.sent();
        assertTrue(credits.isAvailable());
        credits.sent();
        assertFalse(credits.isAvailable());
        credits.update(11);
        assertTrue(credits.isAvailable());
        assertThrows(StreamProtocolException.class, () -> credits.update(10));
        assertThrows(StreamProtocolException.class, () -> credits.update(13));
    }

    /** So many data messages as were granted have a place here until they are taken. */
    @Test
    void shouldGrantNothingForWhatWasNotTaken() throws Exception {
        StreamReceiver receiver = new StreamReceiver(24, false);
        receiver.published(4096);
        for (int i = 0; i < 24; i++) {
            receiver.arrived(1, 4, 0);
            assertFalse(receiver.isUpdateDue(), "after " + i);
        }
        receiver.take(1);
        assertEquals(25, receiver.newLimit());
        for (int i = 0; i < 11; i++) {
            receiver.take(1);
            assertFalse(receiver.isUpdateDue(), "after " + i);
        }
        receiver.take(1);
        assertTrue(receiver.isUpdateDue());
        assertEquals(37, receiver.newLimit());
    }

    /** With more than there is, this side would read what another message has left in the same memory. */
    @Test
    void shouldRefuseOtherDataThanIsBehindItsMessage() throws Exception {
        StreamReceiver receiver = new StreamReceiver(24, true);
        receiver.published(4096);
        assertThrows(StreamProtocolException.class, () -> receiver.arrived(4, 4 + 3, 0));
        assertThrows(StreamProtocolException.class, () -> receiver.arrived(2, 4 + 3, 0));
        assertEquals(0, receiver.readableBytes());
        receiver.arrived(3, 4 + 3, 0);
        assertEquals(3, receiver.readableBytes());
    }

    @ParameterizedTest
    @EnumSource(value = StreamMessage.Control.class, names = {"DISCONNECT", "SHUTDOWN"})
    void shouldRefuseDataAfterTheEnd(StreamMessage.Control end) throws Exception {
        StreamReceiver receiver = new StreamReceiver(24, true);
        receiver.published(4096);
        receiver.arrived(end.encode(), 4, 0);
        assertTrue(receiver.isFinished());
        assertThrows(StreamProtocolException.class, () -> receiver.arrived(1, 4, 0));
        assertThrows(StreamProtocolException.class, () -> receiver.arrived(1, 4 + 1, 0));
        assertEquals(0, receiver.readableBytes());
    }

    @Test
    void shouldEncodeMessagesAsTheirBits() throws Exception {
        assertEquals(0x1fffffff, new StreamMessage.Data(0x1fffffff).encode());
        assertEquals(0x80000180, new StreamMessage.Credits(384).encode());
        assertEquals(0x80000001, new StreamMessage.Credits(65537).encode());
        assertEquals(0xe0000000, StreamMessage.Control.DISCONNECT.encode());
        assertEquals(0xe0000001, StreamMessage.Control.KEEPALIVE.encode());
        assertEquals(0xe0000002, StreamMessage.Control.SHUTDOWN.encode());
        assertEquals(new StreamMessage.Data(5), StreamMessage.decode(5));
        assertEquals(new StreamMessage.Credits(384), StreamMessage.decode(0x80000180));
        assertEquals(StreamMessage.Control.SHUTDOWN, StreamMessage.decode(0xe0000002));
    }
}
