package org.nettyrdma.handler.credit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.handler.credit.CreditedMessage.Role.REQUEST;
import static org.nettyrdma.handler.credit.CreditedMessage.Role.RESPONSE;

import io.netty.channel.embedded.EmbeddedChannel;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The requests that the peer sends, and what it is granted. */
class CreditGateServedTest extends CreditGateFixture {

    @Test
    void shouldGrantWhatIsAskedForWithinTheRange() {
        assertEquals(1, grantFor(0));
        assertEquals(1, grantFor(1));
        assertEquals(5, grantFor(5));
        assertEquals(8, grantFor(8));
        assertEquals(8, grantFor(9));
        assertEquals(8, grantFor(0xffffffffL));
        assertEquals(2, grantFor(2));
    }

    @Test
    void shouldTellWhatItGrantsNow() {
        grantFor(8);
        assertEquals(8, gate.statistics().served().granted());
        grantFor(2);
        assertEquals(2, gate.statistics().served().granted());
    }

    @Test
    void shouldReleaseAResponseThatThereIsNoMemoryToStamp() {
        receive(message(REQUEST, 1, 8));
        TestMessage response = message(RESPONSE, 1, 0);
        response.isUnstampable = true;
        assertInstanceOf(OutOfMemoryError.class, write(response).cause());
        assertEquals(0, response.refCnt());
    }

    @Test
    void shouldNotStampWhatCarriesTheRightValue() {
        receive(message(REQUEST, 1, 8));
        TestMessage response = message(RESPONSE, 1, 8);
        write(response);
        assertSame(response, channel.readOutbound());
        response.release();
    }

    @Test
    void shouldCloseOnASecondRequestBeforeTheFirstResponse() {
        receive(message(REQUEST, 1, 8));
        CreditExceededException e = assertThrows(CreditExceededException.class, () -> receive(message(REQUEST, 2, 8)));
        assertEquals("The peer has more than the 1 requests in progress that it was granted", e.getMessage());
        assertFalse(channel.isOpen());
        assertEquals(1, gate.statistics().served().exceeded());
    }

    @Test
    void shouldTakeAsManyAsGrantedAndNoMore() {
        grantFor(8);
        for (int xid = 1; xid <= 8; xid++) {
            receive(message(REQUEST, xid, 8));
        }
        assertEquals(8, gate.statistics().served().inProgress());
        assertTrue(channel.isOpen());
        assertThrows(CreditExceededException.class, () -> receive(message(REQUEST, 9, 8)));
        assertFalse(channel.isOpen());
    }

    @Test
    void shouldTakeWhatWasSentBeforeASmallerGrantWasRead() {
        grantFor(8);
        grantFor(2);
        for (int xid = 1; xid <= 8; xid++) {
            receive(message(REQUEST, xid, 2));
        }
        assertTrue(channel.isOpen());
    }

    @Test
    void shouldCloseOnARequestThatNoGrantAllowsWhateverThePeerHasRead() {
        grantFor(8);
        for (int xid = 1; xid <= 8; xid++) {
            receive(message(REQUEST, xid, 2));
        }
        for (int xid = 1; xid <= 7; xid++) { // 9 were sent; from the seventh of these on the smaller grant allows as many
            answer(xid);
        }
        assertThrows(CreditExceededException.class, () -> {
            receive(message(REQUEST, 9, 2));
            receive(message(REQUEST, 10, 2));
        });
        assertFalse(channel.isOpen());
        assertEquals(1, gate.statistics().served().exceeded());
    }

    @Test
    void shouldGoOnServingAPeerThatKeepsToASmallerGrant() {
        grantFor(8);
        for (int xid = 1; xid <= 8; xid++) {
            receive(message(REQUEST, xid, 2));
        }
        for (int xid = 1; xid <= 8; xid++) {
            answer(xid);
        }
        for (int xid = 9; xid <= 20; xid += 2) {
            receive(message(REQUEST, xid, 2));
            receive(message(REQUEST, xid + 1, 2));
            answer(xid);
            answer(xid + 1);
        }
        assertTrue(channel.isOpen());
    }

    @Test
    void shouldTakeItThatThePeerIgnoresAGrantThatDoesNotCount() {
        grantFor(8);
        for (int i = 0; i < 20; i++) {
            receive(message(REQUEST, i, 2));
            TestMessage response = message(RESPONSE, i, 99);
            response.grantsCredits = false;
            write(response);
            ((TestMessage) channel.readOutbound()).release();
        }
        for (int xid = 21; xid <= 28; xid++) {
            receive(message(REQUEST, xid, 2));
        }
        assertTrue(channel.isOpen());
    }

    private void answer(int xid) {
        write(message(RESPONSE, xid, 99));
        TestMessage sent = channel.readOutbound();
        sent.release();
    }

    @Test
    void shouldPassUpNothingBehindARequestThatExceeded() {
        receive(message(REQUEST, 1, 8));
        assertThrows(CreditExceededException.class,
                () -> channel.writeInbound(message(REQUEST, 2, 8), message(REQUEST, 3, 8)));
        assertNull(channel.readInbound());
        assertEquals(1, gate.statistics().served().exceeded());
    }

    @Test
    void shouldStampResponsesWithoutRequest() {
        write(response(77, 0));
        TestMessage sent = channel.readOutbound();
        assertEquals(1, sent.credits());
        sent.release();
        assertEquals(0, gate.statistics().served().inProgress());
    }

    @Test
    void shouldGrantNoMoreThanThereIsRoomForAtTheMoment() {
        AtomicInteger room = new AtomicInteger();
        EmbeddedChannel crowded = new EmbeddedChannel(new CreditGate(16, 4, 8, room::get));
        for (int[] roomAndGrant : new int[][] {{8, 8}, {3, 3}, {0, 1}, {-5, 1}, {Integer.MAX_VALUE, 8}}) {
            room.set(roomAndGrant[0]);
            crowded.writeInbound(message(REQUEST, 1, 8));
            crowded.writeOutbound(message(RESPONSE, 1, 99));
            TestMessage sent = crowded.readOutbound();
            sent.release();
            assertEquals(roomAndGrant[1], sent.credits(), "room for " + roomAndGrant[0]);
        }
        room.set(0);
        for (int xid = 1; xid <= 8; xid++) { // granted before, so that the peer is not at fault
            crowded.writeInbound(message(REQUEST, xid, 8));
        }
        assertTrue(crowded.isOpen());
        crowded.close();
        crowded.releaseInbound();
    }

    private long grantFor(long wanted) {
        receive(message(REQUEST, 500, wanted));
        write(message(RESPONSE, 500, 99));
        TestMessage sent = channel.readOutbound();
        sent.release();
        return sent.credits();
    }
}
