package org.nettyrdma.handler.credit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.ChannelFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A peer that does not answer, and callers who wait no more. */
class CreditGateLostCreditsTest extends CreditGateFixture {

    private static final long SILENCE_MILLIS = CreditGate.DEFAULT_MAX_SILENCE_MILLIS;

    private record GivenUp(int xid) implements RequestGivenUp { }

    @BeforeEach
    void freeze() {
        channel.freezeTime();
    }

    private void giveUp(int firstXid, int lastXid) {
        for (int xid = firstXid; xid <= lastXid; xid++) {
            channel.pipeline().fireUserEventTriggered(new GivenUp(xid));
        }
    }

    private void advance(long millis) {
        channel.advanceTimeBy(millis, TimeUnit.MILLISECONDS);
        channel.runScheduledPendingTasks();
    }

    private void fill() {
        open(4);
        writeAll(1, 4);
        assertSent(1, 2, 3, 4);
    }

    @Test
    void shouldEndTheConnectionWhoseCreditsAreAllLost() {
        fill();
        giveUp(1, 4);
        ChannelFuture waiting = write(request(5));
        advance(SILENCE_MILLIS - 1);
        assertTrue(channel.isOpen());
        advance(1);
        assertFalse(channel.isOpen());
        CreditsLostException cause = assertThrows(CreditsLostException.class, channel::checkException);
        assertEquals("All credits are lost: the peer has not answered 4 requests that were given up, and nothing else for 60000 "
                + "ms",
                cause.getMessage());
        assertInstanceOf(java.nio.channels.ClosedChannelException.class, waiting.cause());
    }

    @Test
    void shouldKeepTheCreditsOfRequestsThatWereGivenUp() {
        fill();
        giveUp(1, 4);
        write(request(5));
        assertSent();
        receive(response(2, 4)); // too late for its caller, but the credit is back
        assertSent(5);
        assertEquals(4, gate.statistics().requests().inProgress());
    }

    @Test
    void shouldTellWhetherSomebodyWaitsForAResponse() {
        assertFalse(gate.isResponseAwaited());
        fill();
        assertTrue(gate.isResponseAwaited());
        giveUp(1, 3);
        assertTrue(gate.isResponseAwaited());
        giveUp(4, 4);
        assertFalse(gate.isResponseAwaited());
        write(request(5));
        assertTrue(gate.isResponseAwaited(), "it waits for a credit");
        receive(response(2, 4));
        assertSent(5);
        assertTrue(gate.isResponseAwaited());
        receive(response(5, 4));
        assertFalse(gate.isResponseAwaited());
    }

    @Test
    void shouldGoOnAsLongAsOneIsWaitedForOrCanBeSent() {
        fill();
        giveUp(1, 3);
        advance(2 * SILENCE_MILLIS);
        assertTrue(channel.isOpen());
        receive(response(4, 4));
        advance(2 * SILENCE_MILLIS);
        assertTrue(channel.isOpen());
        write(request(5));
        assertSent(5);
        giveUp(5, 5);
        advance(SILENCE_MILLIS);
        assertFalse(channel.isOpen());
        assertThrows(CreditsLostException.class, channel::checkException);
    }

    @Test
    void shouldWaitAnewWhenThePeerAnswersAnything() {
        fill();
        giveUp(1, 4);
        advance(SILENCE_MILLIS / 2);
        receive(response(1, 3)); // it grants one less, so that nothing can be sent
        advance(SILENCE_MILLIS / 2);
        assertTrue(channel.isOpen());
        advance(SILENCE_MILLIS - 1);
        assertTrue(channel.isOpen());
        advance(1);
        assertFalse(channel.isOpen());
        assertThrows(CreditsLostException.class, channel::checkException);
    }

    @Test
    void shouldSeeThatAGrantLeavesNoMoreThanWhatIsLost() {
        fill();
        giveUp(1, 3);
        receive(response(4, 3));
        advance(SILENCE_MILLIS);
        assertFalse(channel.isOpen());
        assertThrows(CreditsLostException.class, channel::checkException);
    }

    @Test
    void shouldNotBlameThePeerWhileNothingIsRead() {
        fill();
        giveUp(1, 4);
        channel.config().setAutoRead(false);
        advance(2 * SILENCE_MILLIS);
        assertTrue(channel.isOpen());
    }

    @Test
    void shouldForgetWhatIsAnsweredAndWhatIsUnknown() {
        fill();
        giveUp(98, 99);
        giveUp(1, 4);
        for (int xid = 1; xid <= 4; xid++) {
            receive(response(xid, 4));
        }
        writeAll(1, 4);
        assertSent(1, 2, 3, 4);
        advance(2 * SILENCE_MILLIS);
        assertTrue(channel.isOpen(), "these are waited for");
    }

    @Test
    void shouldForgetWhatIsAbandoned() {
        fill();
        giveUp(1, 4);
        gate.abandon(1);
        advance(2 * SILENCE_MILLIS);
        assertTrue(channel.isOpen());
        write(request(5));
        assertSent(5);
    }
}
