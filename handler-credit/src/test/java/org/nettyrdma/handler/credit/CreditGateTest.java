package org.nettyrdma.handler.credit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.nettyrdma.handler.credit.CreditedMessage.Role.NEITHER;
import static org.nettyrdma.handler.credit.CreditedMessage.Role.REQUEST;
import static org.nettyrdma.handler.credit.CreditedMessage.Role.RESPONSE;

import org.junit.jupiter.api.Test;

/** Both halves of a gate together, and what passes it uncounted. */
class CreditGateTest extends CreditGateFixture {

    @Test
    void shouldCountBothDirectionsApart() {
        open(2);
        receive(message(REQUEST, 1, 8));
        write(message(RESPONSE, 1, 0));
        writeAll(1, 2);
        for (int xid = 1; xid <= 8; xid++) {
            receive(message(REQUEST, xid, 8));
        }
        write(request(3));
        assertSent(1, 1, 2);
        assertEquals(new CreditStatistics(new CreditStatistics.Requests(2, 2, 1, 1, 0, 0, 0, 0, 0, 0),
                new CreditStatistics.Served(8, 8, 0)), gate.statistics());
        write(message(RESPONSE, 5, 0));
        assertSent(5);
        receive(response(2, 2));
        assertSent(3);
    }

    @Test
    void shouldPassWhatIsNotCounted() {
        write(request(1));
        write(request(2));
        TestMessage neither = message(NEITHER, 0, 0);
        write(neither);
        assertSent(1, 0);
        assertEquals(0, neither.credits());
        receive(message(NEITHER, 1, 16));
        channel.writeInbound("text");
        assertEquals("text", channel.readInbound());
        channel.writeOutbound("text");
        assertEquals("text", channel.readOutbound());
    }

    @Test
    void shouldNeedCredits() {
        assertThrows(IllegalArgumentException.class, () -> new CreditGate(0));
        assertThrows(IllegalArgumentException.class, () -> new CreditGate(1, -1, 1));
        assertThrows(IllegalArgumentException.class, () -> new CreditGate(1, 0, 0));
        assertThrows(NullPointerException.class, () -> new CreditGate(1, 0, 1, null));
    }
}
