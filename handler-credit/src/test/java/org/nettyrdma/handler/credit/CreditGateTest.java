package org.nettyrdma.handler.credit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.handler.credit.CreditedMessage.Role.NEITHER;
import static org.nettyrdma.handler.credit.CreditedMessage.Role.NOTICE;
import static org.nettyrdma.handler.credit.CreditedMessage.Role.REQUEST;
import static org.nettyrdma.handler.credit.CreditedMessage.Role.RESPONSE;

import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.AbstractReferenceCounted;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

class CreditGateTest {

    private final CreditGate gate = new CreditGate(16, 4, 8);
    private final EmbeddedChannel channel = new EmbeddedChannel(gate);
    private final List<Message> messages = new ArrayList<>();

    @AfterEach
    void shouldReleaseEveryMessageOnce() {
        channel.releaseInbound();
        channel.releaseOutbound();
        channel.finishAndReleaseAll();
        messages.forEach(message -> assertEquals(0, message.refCnt(), message.toString()));
    }

    @Nested
    class Requests {

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
            Message request = request(1);
            write(request);
            assertSent(1);
            assertEquals(16, request.credits());
        }

        @Test
        void shouldNotStampWhatCarriesTheRightValue() {
            Message request = message(REQUEST, 1, 16);
            write(request);
            assertSame(request, channel.readOutbound());
            request.release();
        }

        @Test
        void shouldUseAsManyAsGrantedForEveryGrant() {
            for (int grant = 1; grant <= 1024; grant++) {
                EmbeddedChannel other = new EmbeddedChannel(new CreditGate(1024, 2, 1));
                other.writeOutbound(request(0));
                other.<Message>readOutbound().release();
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
            Message response = response(1, 16);
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
            Message response = response(7, 16);
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
        }

        @Test
        void shouldDropAWaitingWriteThatIsCancelled() {
            write(request(1));
            Message message = request(2);
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
            EmbeddedChannel refusing = new EmbeddedChannel(new ChannelOutboundHandlerAdapter() {
                @Override
                public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
                    if (((Message) msg).xid() == 1) {
                        ((Message) msg).release();
                        promise.setFailure(new IllegalArgumentException("not this one"));
                    } else {
                        ctx.write(msg, promise);
                    }
                }
            }, new CreditGate(16));
            ChannelFuture refused = refusing.writeOneOutbound(request(1));
            assertInstanceOf(IllegalArgumentException.class, refused.cause());
            refusing.writeOutbound(request(2));
            Message sent = refusing.readOutbound();
            assertEquals(2, sent.xid());
            sent.release();
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
                    busy.<Message>readInbound().release();
                }
                int before = inProgress.size();
                for (Message sent = busy.readOutbound(); sent != null; sent = busy.readOutbound()) {
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

    @Nested
    class Served {

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
        void shouldNotStampWhatCarriesTheRightValue() {
            receive(message(REQUEST, 1, 8));
            Message response = message(RESPONSE, 1, 8);
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
            Message sent = channel.readOutbound();
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
                Message sent = crowded.readOutbound();
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
            Message sent = channel.readOutbound();
            sent.release();
            return sent.credits();
        }
    }

    @Nested
    class Notices {

        @Test
        void shouldKeepTheCreditOfTheRequestUntilTheNoticeIsKnownToHaveArrived() {
            open(2);
            writeAll(1, 3);
            assertSent(1, 2);
            receive(keeping(1, 2));
            assertSent(); // 2 is in progress, the notice of 1 is to come
            write(message(NOTICE, 1, 0));
            assertSent(1);
            receive(response(2, 2)); // was sent before the notice, and says nothing of it
            assertSent(3);
            write(request(4));
            assertSent();
            receive(response(3, 2)); // was sent behind the notice
            assertSent(4);
            write(request(5));
            assertSent(5);
            assertEquals(2, gate.statistics().requests().inProgress());
        }

        @Test
        void shouldSendNoticesAheadOfWaitingRequests() {
            open(1);
            writeAll(1, 2);
            assertSent(1);
            receive(keeping(1, 1));
            write(message(NOTICE, 1, 0));
            assertSent(1, 2); // nothing but the notice held the only credit
        }

        @Test
        void shouldStampNoticesLikeRequests() {
            open(2);
            write(request(1));
            receive(keeping(1, 2));
            Message notice = message(NOTICE, 1, 0);
            write(notice);
            assertSent(1, 1);
            assertEquals(16, notice.credits());
        }

        @Test
        void shouldRefuseNoticesThatNoResponseHasKeptACreditFor() {
            open(4);
            write(request(1));
            assertSent(1);
            assertInstanceOf(IllegalStateException.class, write(message(NOTICE, 1, 0)).cause());
            receive(keeping(1, 4));
            receive(keeping(1, 4));
            assertEquals(1, gate.statistics().requests().unmatchedResponses());
            assertTrue(write(message(NOTICE, 1, 0)).isSuccess());
            assertInstanceOf(IllegalStateException.class, write(message(NOTICE, 1, 0)).cause());
            channel.close();
            assertInstanceOf(ClosedChannelException.class, write(message(NOTICE, 1, 0)).cause());
            assertSent(1);
        }

        @Test
        void shouldNotCountReceivedOnes() {
            receive(message(NOTICE, 1, 8));
            receive(message(NOTICE, 2, 8));
            receive(message(REQUEST, 3, 8));
            assertTrue(channel.isOpen());
            assertEquals(1, gate.statistics().served().inProgress());
        }

        /** What has been sent and is not known to have arrived never exceeds the grant. */
        @Test
        void shouldNeverExceedTheGrantTogetherWithRequests() {
            Random random = new Random(2005);
            EmbeddedChannel busy = new EmbeddedChannel(new CreditGate(8, 10_000, 8));
            List<Message> unproven = new ArrayList<>();
            int xid = 0;
            int limit = 1;
            for (int i = 0; i < 20_000; i++) {
                if (random.nextBoolean() || unproven.stream().noneMatch(sent -> sent.role() == REQUEST)) {
                    busy.writeOneOutbound(request(xid++));
                } else {
                    Message answered = pick(unproven, random);
                    limit = 2 + random.nextInt(7);
                    boolean keeps = random.nextInt(3) == 0;
                    busy.writeInbound(keeps ? keeping(answered.xid(), limit) : response(answered.xid(), limit));
                    busy.<Message>readInbound().release();
                    int place = unproven.indexOf(answered);
                    unproven.removeIf(sent -> sent.role() == NOTICE && unproven.indexOf(sent) < place);
                    unproven.remove(answered);
                    if (keeps) {
                        busy.writeOneOutbound(message(NOTICE, answered.xid(), 0));
                    }
                }
                busy.flushOutbound();
                int before = unproven.size();
                for (Message sent = busy.readOutbound(); sent != null; sent = busy.readOutbound()) {
                    boolean onlyNotices = unproven.stream().allMatch(other -> other.role() == NOTICE);
                    unproven.add(sent);
                    sent.release();
                    assertTrue(sent.role() == NOTICE || onlyNotices || unproven.size() <= Math.max(limit, before));
                }
            }
            assertTrue(xid > 5000);
            busy.close();
        }

        private Message pick(List<Message> sent, Random random) {
            List<Message> requests = sent.stream().filter(message -> message.role() == REQUEST).toList();
            return requests.get(random.nextInt(requests.size()));
        }

        private Message keeping(int xid, long credits) {
            Message response = response(xid, credits);
            response.keepsCredit = true;
            return response;
        }
    }

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
        assertEquals(new CreditStatistics(new CreditStatistics.Requests(2, 2, 1, 1, 0, 0, 0, 0),
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
        Message neither = message(NEITHER, 0, 0);
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
    }

    /** One request and its response, which grants {@code credits}. */
    private void open(long credits) {
        write(request(1000));
        assertSent(1000);
        receive(response(1000, credits));
    }

    private void writeAll(int firstXid, int lastXid) {
        for (int xid = firstXid; xid <= lastXid; xid++) {
            write(request(xid));
        }
    }

    private ChannelFuture write(Message message) {
        return channel.writeAndFlush(message);
    }

    private void receive(Message message) {
        channel.writeInbound(message);
        channel.<Message>readInbound().release();
    }

    private void assertSent(int... xids) {
        List<Integer> sent = new ArrayList<>();
        for (Message message = channel.readOutbound(); message != null; message = channel.readOutbound()) {
            sent.add(message.xid());
            message.release();
        }
        assertEquals(IntStream.of(xids).boxed().toList(), sent);
    }

    private Message request(int xid) {
        return message(REQUEST, xid, 0);
    }

    private Message response(int xid, long credits) {
        return message(RESPONSE, xid, credits);
    }

    private Message message(CreditedMessage.Role role, int xid, long credits) {
        Message message = new Message(role, xid, credits);
        messages.add(message);
        return message;
    }

    private static final class Message extends AbstractReferenceCounted implements CreditedMessage {

        private final Role role;
        private final int xid;
        private long credits;
        private boolean keepsCredit;
        private boolean grantsCredits = true;

        Message(Role role, int xid, long credits) {
            this.role = role;
            this.xid = xid;
            this.credits = credits;
        }

        @Override
        public Role role() {
            return role;
        }

        @Override
        public boolean keepsCredit() {
            return keepsCredit;
        }

        @Override
        public boolean grantsCredits() {
            return grantsCredits;
        }

        @Override
        public int xid() {
            return xid;
        }

        @Override
        public long credits() {
            return credits;
        }

        @Override
        public CreditedMessage withCredits(int newCredits) {
            credits = newCredits;
            return this;
        }

        @Override
        public Message touch(Object hint) {
            return this;
        }

        @Override
        protected void deallocate() { }

        @Override
        public String toString() {
            return role + " " + xid + ", credits " + credits;
        }
    }
}
