package org.nettyrdma.handler.credit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.handler.credit.CreditedMessage.Role.REQUEST;

import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The requests that this end sends: which go at once, which wait, and what becomes of those that wait. */
class CreditGateRequestsTest extends CreditGateFixture {

    @Test
    void shouldLetOneThroughUntilTheFirstResponse() {
        write(request(1));
        write(request(2));
        assertSent(1);
        receive(response(1, 16));
        assertSent(2);
    }

    @Test
    void shouldAskForTheMaximum() {
        TestMessage request = request(1);
        write(request);
        assertSent(1);
        assertEquals(16, request.credits());
    }

    @Test
    void shouldNotStampWhatCarriesTheRightValue() {
        TestMessage request = message(REQUEST, 1, 16);
        write(request);
        assertSame(request, channel.readOutbound());
        request.release();
    }

    /** At once, and from among those that wait. */
    @Test
    void shouldTakeNoCreditForARequestThatThereIsNoMemoryToStamp() {
        TestMessage first = request(1);
        first.isUnstampable = true;
        assertInstanceOf(OutOfMemoryError.class, write(first).cause());
        assertEquals(0, first.refCnt());
        write(request(2));
        assertSent(2);
        TestMessage waiting = request(3);
        waiting.isUnstampable = true;
        ChannelFuture waits = write(waiting);
        write(request(4));
        receive(response(2, 1));
        assertInstanceOf(OutOfMemoryError.class, waits.cause());
        assertEquals(0, waiting.refCnt());
        assertSent(4);
    }

    /** At once, and from among those that wait. */
    @Test
    void shouldReleaseARequestWhosePromiseFindsNoMemory() {
        assertInstanceOf(OutOfMemoryError.class, writeWithoutMemory(request(1)).cause());
        write(request(2));
        assertSent(2);
        ChannelFuture waits = writeWithoutMemory(request(3));
        write(request(4));
        receive(response(2, 1));
        assertInstanceOf(OutOfMemoryError.class, waits.cause());
        assertSent(4);
    }

    @Test
    void shouldUseAsManyAsGrantedForEveryGrant() {
        for (int grant = 1; grant <= 1024; grant++) {
            EmbeddedChannel other = new EmbeddedChannel(new CreditGate(1024, 2, 1));
            other.writeOutbound(request(0));
            other.<TestMessage>readOutbound().release();
            other.writeInbound(response(0, grant));
            for (int xid = 1; xid <= grant + 2; xid++) {
                other.writeOneOutbound(request(xid));
            }
            other.flushOutbound();
            assertEquals(grant, other.outboundMessages().size());
            other.close();
            other.releaseOutbound();
            other.releaseInbound();
        }
    }

    @Test
    void shouldGrowWithTheGrant() {
        open(1);
        writeAll(1, 3);
        assertSent(1);
        receive(response(1, 3));
        assertSent(2, 3);
        writeAll(4, 5);
        assertSent(4);
        receive(response(2, 4));
        assertSent(5);
        writeAll(6, 7);
        assertSent(6);
    }

    @Test
    void shouldSendNothingWhileMoreIsInProgressThanASmallerGrantAllows() {
        open(4);
        writeAll(1, 5);
        assertSent(1, 2, 3, 4);
        receive(response(1, 2));
        assertSent();
        receive(response(2, 2));
        assertSent();
        receive(response(3, 2));
        assertSent(5);
    }

    @Test
    void shouldTakeAGrantOfZeroForOne() {
        open(4);
        writeAll(1, 2);
        receive(response(1, 0));
        receive(response(2, 0));
        writeAll(3, 4);
        assertSent(1, 2, 3);
        assertEquals(2, gate.statistics().requests().grantsOfZero());
        assertEquals(1, gate.statistics().requests().granted());
    }

    @Test
    void shouldTakeNoMoreThanItWants() {
        open(0xffffffffL);
        assertEquals(16, gate.statistics().requests().granted());
        assertEquals(1, gate.statistics().requests().grantsAboveMaximum());
        open(17);
        assertEquals(2, gate.statistics().requests().grantsAboveMaximum());
        writeAll(1, 20);
        assertSent(IntStream.rangeClosed(1, 16).toArray());
    }

    @Test
    void shouldGetTheCreditBackButNoGrantWhereTheValueDoesNotCount() {
        open(2);
        writeAll(1, 6);
        assertSent(1, 2);
        TestMessage response = response(1, 16);
        response.grantsCredits = false;
        receive(response);
        assertSent(3);
        receive(response(2, 4));
        assertSent(4, 5, 6);
    }

    @Test
    void shouldGetNoCreditFromAResponseThatAnswersNothing() {
        open(1);
        write(request(1));
        write(request(2));
        receive(response(7, 16));
        receive(response(0, 16));
        assertSent(1);
        assertEquals(2, gate.statistics().requests().unmatchedResponses());
        assertEquals(1, gate.statistics().requests().granted());
        receive(response(1, 2));
        assertSent(2);
        receive(response(1, 16));
        assertEquals(3, gate.statistics().requests().unmatchedResponses());
        assertEquals(1, gate.statistics().requests().inProgress());
        assertEquals(2, gate.statistics().requests().granted());
    }

    @Test
    void shouldPassResponsesUp() {
        TestMessage response = response(7, 16);
        channel.writeInbound(response);
        assertSame(response, channel.readInbound());
        response.release();
    }

    @Test
    void shouldKeepTheOrderOfWrites() {
        write(request(1));
        writeAll(2, 4);
        receive(response(1, 2));
        write(request(5));
        assertSent(1, 2, 3);
        receive(response(2, 16));
        assertSent(4, 5);
    }

    @Test
    void shouldRefuseWhatExceedsTheQueue() {
        writeAll(1, 5);
        ChannelFuture refused = write(request(6));
        assertInstanceOf(CreditQueueFullException.class, refused.cause());
        assertEquals("4 requests wait for credits, which is the limit; 1 are in progress, 1 are granted",
                refused.cause().getMessage());
        assertEquals(1, gate.statistics().requests().refused());
        assertEquals(4, gate.statistics().requests().waiting());
        assertEquals(4, gate.statistics().requests().highestWaiting());
        receive(response(1, 16));
        assertSent(1, 2, 3, 4, 5);
        assertEquals(0, gate.statistics().requests().waiting());
    }

    @Test
    void shouldRefuseAtOnceWithoutAQueue() {
        EmbeddedChannel impatient = new EmbeddedChannel(new CreditGate(16, 0, 8));
        impatient.writeOutbound(request(1));
        assertInstanceOf(CreditQueueFullException.class, impatient.writeOneOutbound(request(2)).cause());
        impatient.releaseOutbound();
    }

    @Test
    void shouldBeUnwritableWhileOneWaits() {
        write(request(1));
        assertTrue(channel.isWritable());
        ChannelFuture second = write(request(2));
        write(request(3));
        assertFalse(channel.isWritable());
        second.cancel(false);
        assertFalse(channel.isWritable());
        receive(response(1, 1));
        assertSent(1, 3);
        assertTrue(channel.isWritable());
        assertEquals(2, gate.statistics().requests().waits(), "the one that was cancelled, and the one that was sent");
        assertTrue(gate.statistics().requests().waitedNanos() > 0);
    }

    @Test
    void shouldDropAWaitingWriteThatIsCancelled() {
        write(request(1));
        TestMessage message = request(2);
        ChannelFuture waiting = write(message);
        assertTrue(waiting.cancel(false));
        assertEquals(0, message.refCnt());
        assertTrue(channel.isWritable());
        assertEquals(0, gate.statistics().requests().waiting());
        write(request(3));
        receive(response(1, 1));
        assertSent(1, 3);
    }

    @Test
    void shouldDropAWaitingWriteWhosePromiseItsOwnerHasFailed() {
        write(request(1));
        ChannelPromise promise = channel.newPromise();
        channel.writeAndFlush(request(2), promise);
        write(request(3));
        promise.setFailure(new IllegalStateException("its owner waits no more"));
        receive(response(1, 1));
        assertSent(1, 3);
        assertEquals(0, gate.statistics().requests().waiting());
    }

    @Test
    void shouldNotCancelWhatHasTakenACredit() {
        ChannelFuture sent = channel.write(request(1));
        assertFalse(sent.cancel(false));
        channel.flush();
        assertSent(1);
        assertTrue(sent.isSuccess());
    }

    @Test
    void shouldFlushWhatAResponseLetsGo() {
        write(request(1));
        channel.write(request(2));
        assertSent(1);
        receive(response(1, 1));
        assertSent(2);
    }

    @Test
    void shouldNotFlushForWritesThatDidNotWait() {
        int[] flushes = new int[1];
        EmbeddedChannel observed = new EmbeddedChannel(new ChannelOutboundHandlerAdapter() {
            @Override
            public void flush(ChannelHandlerContext ctx) {
                flushes[0]++;
                ctx.flush();
            }
        }, new CreditGate(16));
        observed.writeOutbound(request(1));
        flushes[0] = 0;
        observed.writeInbound(response(1, 1));
        assertEquals(0, flushes[0]);
        observed.releaseInbound();
        observed.releaseOutbound();
    }

    @Test
    void shouldGiveTheCreditBackWhereAWriteIsRefusedBelow() {
        EmbeddedChannel refusing = refusingUpTo(1);
        ChannelFuture refused = refusing.writeOneOutbound(request(1));
        assertInstanceOf(IllegalArgumentException.class, refused.cause());
        refusing.writeOutbound(request(2));
        TestMessage sent = refusing.readOutbound();
        assertEquals(2, sent.xid());
        sent.release();
    }

    /** Whoever is told of the refusal makes another request before the gate has taken the credit back. */
    @Test
    void shouldSendWhatIsWrittenOnARefusalBelow() {
        EmbeddedChannel refusing = refusingUpTo(1);
        refusing.writeAndFlush(request(1),
                refusing.newPromise().addListener(refused -> refusing.writeAndFlush(request(2))));
        TestMessage sent = refusing.readOutbound();
        assertEquals(2, sent.xid());
        sent.release();
        assertTrue(refusing.isWritable());
    }

    @Test
    void shouldRefuseASecondRequestWithTheXidOfOneInProgress() {
        open(16);
        write(request(1));
        assertInstanceOf(IllegalStateException.class, write(request(1)).cause());
        assertEquals(1, gate.statistics().requests().inProgress());
        receive(response(1, 16));
        assertTrue(write(request(1)).isSuccess());
    }

    @Test
    void shouldKeepTheCreditOfARequestWithoutResponseUntilItIsAbandoned() {
        write(request(1));
        write(request(2));
        assertSent(1);
        gate.abandon(99);
        assertSent();
        gate.abandon(1);
        assertSent(2);
        receive(response(1, 16));
        assertEquals(1, gate.statistics().requests().inProgress());
        assertEquals(1, gate.statistics().requests().granted());
    }

    @Test
    void shouldFailWhatWaitsOnClose() {
        write(request(1));
        ChannelFuture second = write(request(2));
        ChannelFuture third = write(request(3));
        channel.close();
        assertInstanceOf(ClosedChannelException.class, second.cause());
        assertInstanceOf(ClosedChannelException.class, third.cause());
        assertInstanceOf(ClosedChannelException.class, write(request(4)).cause());
        assertEquals(0, gate.statistics().requests().waiting());
    }

    @Test
    void shouldFailWhatWaitsOnRemoval() {
        write(request(1));
        ChannelFuture second = write(request(2));
        channel.pipeline().remove(gate);
        assertInstanceOf(ClosedChannelException.class, second.cause());
        assertTrue(channel.isWritable());
    }

    @Test
    void shouldTakeVoidPromises() {
        channel.write(request(1), channel.voidPromise());
        channel.write(request(2), channel.voidPromise());
        receive(response(1, 1));
        channel.flush();
        assertSent(1, 2);
    }

    @Test
    void shouldTakeRequestsThatAreWrittenWhileWaitingOnesGo() {
        write(request(1));
        ChannelFuture second = write(request(2));
        second.addListener(done -> channel.write(request(4)));
        write(request(3));
        receive(response(1, 16));
        channel.flush();
        assertSent(1, 2, 3, 4);
    }

    @Test
    void shouldNeverExceedTheGrantInAnyOrderOfEvents() {
        Random random = new Random(8166);
        EmbeddedChannel busy = new EmbeddedChannel(new CreditGate(32, 1000, 8));
        List<Integer> inProgress = new ArrayList<>();
        int limit = 1;
        int xid = 0;
        int highest = 0;
        for (int i = 0; i < 20_000; i++) {
            if (random.nextBoolean() && xid < 10_000) {
                busy.writeOneOutbound(request(xid++));
                busy.flushOutbound();
            } else if (!inProgress.isEmpty()) {
                Collections.shuffle(inProgress, random);
                int grant = random.nextInt(40);
                limit = Math.max(1, Math.min(32, grant));
                busy.writeInbound(response(inProgress.remove(0), grant));
                busy.<TestMessage>readInbound().release();
            }
            int before = inProgress.size();
            for (TestMessage sent = busy.readOutbound(); sent != null; sent = busy.readOutbound()) {
                inProgress.add(sent.xid());
                sent.release();
            }
            assertTrue(inProgress.size() <= Math.max(limit, before));
            highest = Math.max(highest, inProgress.size());
        }
        assertEquals(32, highest);
        busy.close();
    }
}
