package org.nettyrdma.handler.credit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.handler.credit.CreditedMessage.Role.CONTROL;
import static org.nettyrdma.handler.credit.CreditedMessage.Role.REQUEST;
import static org.nettyrdma.handler.credit.CreditedMessage.Role.RESPONSE;

import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Messages that are no request and no response: as many as the peer has receives for, and nothing waits for them. */
class CreditGateControlsTest extends CreditGateFixture {

    private final List<Integer> underWay = new ArrayList<>();

    @Test
    void shouldSendNoMoreThanThePeerHasReceivesFor() {
        controls(1, 8);
        assertSent(1, 2, 3, 4);
        receive(answer(2));
        assertSent(5, 6); // 1 and 2 have arrived
        receive(answer(6));
        assertSent(7, 8);
    }

    @Test
    void shouldHoldNothingElseUp() {
        controls(1, 5);
        writeAll(10, 11);
        assertSent(1, 2, 3, 4, 10);
        receive(message(REQUEST, 20, 8));
        write(message(RESPONSE, 20, 0));
        assertSent(20);
        assertTrue(channel.isOpen());
    }

    @Test
    void shouldNotWaitForCredits() {
        writeAll(10, 12);
        controls(1, 1);
        assertSent(10, 1);
        assertFalse(channel.isWritable());
    }

    @Test
    void shouldLearnOfTheirArrivalByTheResponseToALaterRequest() {
        open(4);
        controls(1, 2);
        write(request(10));
        controls(3, 6);
        assertSent(1, 2, 10, 3, 4);
        receive(response(10, 4));
        assertSent(5, 6); // 3 and 4 were sent behind the request
        write(request(11));
        controls(7, 8);
        assertSent(11);
        receive(response(11, 4));
        assertSent(7, 8);
    }

    @Test
    void shouldLearnNothingFromTheResponseToAnEarlierRequest() {
        open(4);
        write(request(10));
        controls(1, 5);
        assertSent(10, 1, 2, 3, 4);
        receive(response(10, 4));
        assertSent();
    }

    @Test
    void shouldLearnOfTheirArrivalByARefusal() {
        controls(1, 6);
        assertSent(1, 2, 3, 4);
        receive(response(2, 0)); // a RESPONSE that answers no request
        assertSent(5, 6);
    }

    /** With a grant of 2 the peer's third request shows that it has the first response, its fourth that it has the second. */
    @Test
    void shouldLearnOfTheirArrivalByRequestsThatNeedTheResponseBehindThem() {
        served(1, 2);
        controls(1, 5);
        assertSent(1, 2, 3, 4);
        receive(message(REQUEST, 2, 2));
        receive(message(REQUEST, 3, 2)); // needs the first response, which went ahead
        assertSent();
        write(message(RESPONSE, 2, 0));
        assertSent(2);
        receive(message(REQUEST, 4, 2)); // needs the second one
        assertSent(5);
    }

    @Test
    void shouldAnswerAtOnceWhatThePeerAsks() {
        controls(1, 5);
        assertSent(1, 2, 3, 4);
        for (int xid = 21; xid <= 26; xid++) {
            receive(message(CONTROL, xid, 0));
            write(answer(xid));
        }
        assertSent(21, 22, 23, 24, 25, 26);
        write(answer(21)); // asked once, so that this has no receive of its own
        assertSent();
        receive(answer(4));
        assertSent(5, 21);
    }

    @Test
    void shouldKeepTheirOrder() {
        controls(1, 5);
        receive(answer(4));
        controls(6, 9);
        assertSent(1, 2, 3, 4, 5, 6, 7, 8);
        receive(answer(5));
        assertSent(9);
    }

    @Test
    void shouldRefuseThoseThatExceedTheQueue() {
        controls(1, 8);
        ChannelFuture refused = write(message(CONTROL, 9, 0));
        assertInstanceOf(CreditQueueFullException.class, refused.cause());
        assertEquals("4 messages without a request wait, which is the limit; 4 are not known to have arrived",
                refused.cause().getMessage());
        assertSent(1, 2, 3, 4);
    }

    @Test
    void shouldDropThoseThatAreCancelledWhileTheyWait() {
        controls(1, 4);
        ChannelFuture fifth = write(message(CONTROL, 5, 0));
        controls(6, 6);
        assertTrue(fifth.cancel(false));
        receive(answer(1));
        assertSent(1, 2, 3, 4, 6);
    }

    @Test
    void shouldDropThoseWhosePromiseItsOwnerHasFailed() {
        controls(1, 4);
        ChannelPromise promise = channel.newPromise();
        channel.writeAndFlush(message(CONTROL, 5, 0), promise);
        controls(6, 6);
        promise.setFailure(new IllegalStateException("its owner waits no more"));
        receive(answer(1));
        assertSent(1, 2, 3, 4, 6);
    }

    @Test
    void shouldReleaseThoseWhosePromiseFindsNoMemory() {
        assertInstanceOf(OutOfMemoryError.class, writeWithoutMemory(message(CONTROL, 1, 0)).cause());
        controls(2, 5);
        ChannelFuture waits = writeWithoutMemory(message(CONTROL, 6, 0));
        controls(7, 7);
        assertSent(2, 3, 4, 5);
        receive(answer(2));
        assertInstanceOf(OutOfMemoryError.class, waits.cause());
        assertSent(7);
    }

    @Test
    void shouldFailThoseThatWaitOnClose() {
        controls(1, 4);
        ChannelFuture fifth = write(message(CONTROL, 5, 0));
        channel.close();
        assertInstanceOf(ClosedChannelException.class, fifth.cause());
        assertInstanceOf(ClosedChannelException.class, write(message(CONTROL, 6, 0)).cause());
        assertSent(1, 2, 3, 4);
    }

    @Test
    void shouldNotCountWhatIsRefusedBelow() {
        EmbeddedChannel refusing = refusingUpTo(9);
        for (int xid = 1; xid <= 9; xid++) {
            assertInstanceOf(IllegalArgumentException.class, refusing.writeOneOutbound(message(CONTROL, xid, 0)).cause());
        }
        refusing.writeOutbound(message(CONTROL, 10, 0));
        refusing.<TestMessage>readOutbound().release();
        refusing.close();
    }

    @Test
    void shouldSendWhatIsWrittenOnARefusalBelow() {
        EmbeddedChannel refusing = refusingUpTo(1);
        for (int xid = 2; xid <= 4; xid++) {
            refusing.write(message(CONTROL, xid, 0));
        }
        refusing.writeAndFlush(message(CONTROL, 1, 0),
                refusing.newPromise().addListener(refused -> refusing.writeAndFlush(message(CONTROL, 5, 0))));
        List<Integer> sent = new ArrayList<>();
        for (TestMessage message = refusing.readOutbound(); message != null; message = refusing.readOutbound()) {
            sent.add(message.xid());
            message.release();
        }
        assertEquals(List.of(2, 3, 4, 5), sent);
        refusing.close();
    }

    /** Whoever is told of the refusal makes the request before the gate has taken the count back. */
    @Test
    void shouldLearnOnlyOfWhatWasSentFromTheResponseToARequestMadeOnARefusal() {
        EmbeddedChannel refusing = new EmbeddedChannel(new ChannelOutboundHandlerAdapter() {
            @Override
            public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
                TestMessage message = (TestMessage) msg;
                message.release();
                if (message.xid() == 2) {
                    promise.setFailure(new IllegalArgumentException("not this one"));
                } else {
                    underWay.add(message.xid());
                    promise.setSuccess();
                }
            }
        }, new CreditGate(16));
        refusing.write(message(CONTROL, 1, 0));
        refusing.write(message(CONTROL, 2, 0), refusing.newPromise().addListener(refused -> refusing.write(request(10))));
        for (int xid = 3; xid <= 6; xid++) {
            refusing.write(message(CONTROL, xid, 0));
        }
        assertEquals(List.of(1, 10, 3, 4, 5), underWay);
        refusing.writeInbound(response(10, 4)); // 1 has arrived, and whether 3 has nobody knows
        assertEquals(List.of(1, 10, 3, 4, 5, 6), underWay);
        refusing.write(message(CONTROL, 7, 0));
        assertEquals(List.of(1, 10, 3, 4, 5, 6), underWay);
        refusing.<TestMessage>readInbound().release();
        refusing.close();
    }

    /** Two gates and the receives of both ends, in any order of events: no message finds none. */
    @Test
    void shouldNeverExceedTheReceivesOfThePeerInAnyOrderOfEvents() {
        Random random = new Random(5);
        for (int run = 0; run < 200; run++) {
            int sent = new Ends(random).run();
            assertTrue(sent > 20, "so few of them went: " + sent);
        }
    }

    private void controls(int firstXid, int lastXid) {
        for (int xid = firstXid; xid <= lastXid; xid++) {
            write(message(CONTROL, xid, 0));
        }
    }

    private TestMessage answer(int xid) {
        TestMessage answer = message(CONTROL, xid, 0);
        answer.isAnswer = true;
        return answer;
    }

    /** The peer sends a request and gets a response that grants it so many. */
    private void served(int xid, int grant) {
        receive(message(REQUEST, xid, grant));
        write(message(RESPONSE, xid, 0));
        assertSent(xid);
    }

    /** A client and a server, each with messages on their way to it. */
    private static final class Ends {

        private static final int CREDITS = 3;

        private final Random random;
        private final End client = new End(CREDITS, 1);
        private final End server = new End(1, CREDITS);
        private int nextXid = 1;

        Ends(Random random) {
            this.random = random;
        }

        int run() {
            for (int i = 0; i < 300; i++) {
                switch (random.nextInt(5)) {
                    case 0 -> client.write(new TestMessage(REQUEST, nextXid++, 0));
                    case 1 -> client.write(new TestMessage(CONTROL, nextXid++, 0));
                    case 2 -> server.write(new TestMessage(CONTROL, nextXid++, 0));
                    case 3 -> client.deliverTo(server);
                    default -> server.deliverTo(client);
                }
            }
            client.channel.close();
            server.channel.close();
            return client.controlsSent + server.controlsSent;
        }
    }

    /** A gate, and what it has sent and the other end has not received. */
    private static final class End {

        private final EmbeddedChannel channel;
        private final Deque<TestMessage> onTheirWay = new ArrayDeque<>();
        private final int ownCalls;
        private int controlsSent;

        End(int ownCalls, int served) {
            this.ownCalls = ownCalls;
            channel = new EmbeddedChannel(new CreditGate(ownCalls, 1000, served));
        }

        void write(TestMessage message) {
            channel.writeOneOutbound(message);
            collect();
        }

        private void collect() {
            channel.flushOutbound();
            for (TestMessage sent = channel.readOutbound(); sent != null; sent = channel.readOutbound()) {
                onTheirWay.add(sent);
                controlsSent += sent.role() == CONTROL ? 1 : 0;
                sent.release();
            }
            long controls = onTheirWay.stream().filter(message -> message.role() == CONTROL && !message.isAnswer).count();
            long answers = onTheirWay.stream().filter(message -> message.isAnswer).count();
            assertTrue(controls <= CreditGate.MAX_CONTROLS, controls + " under way");
            assertTrue(answers <= CreditGate.MAX_CONTROLS, answers + " answers under way");
            assertTrue(onTheirWay.stream().filter(message -> message.role() == REQUEST).count() <= ownCalls);
        }

        /** The other end receives the oldest, and answers requests and every second message without one. */
        void deliverTo(End other) {
            TestMessage message = onTheirWay.poll();
            if (message == null) {
                return;
            }
            TestMessage received = new TestMessage(message.role(), message.xid(), message.credits());
            received.isAnswer = message.isAnswer;
            other.channel.writeInbound(received);
            other.channel.<TestMessage>readInbound().release();
            if (message.role() == REQUEST) {
                other.write(new TestMessage(RESPONSE, message.xid(), 0));
            } else if (message.role() == CONTROL && !message.isAnswer && message.xid() % 2 == 0) {
                TestMessage answer = new TestMessage(CONTROL, message.xid(), 0);
                answer.isAnswer = true;
                other.write(answer);
            }
            other.collect();
        }
    }
}
