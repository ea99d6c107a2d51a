package org.nettyrdma.handler.credit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.handler.credit.CreditedMessage.Role.NOTICE;
import static org.nettyrdma.handler.credit.CreditedMessage.Role.REQUEST;

import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Messages without a response, which use the credit that the response before them has kept. */
class CreditGateNoticesTest extends CreditGateFixture {

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
        TestMessage notice = message(NOTICE, 1, 0);
        write(notice);
        assertSent(1, 1);
        assertEquals(16, notice.credits());
    }

    @Test
    void shouldGiveTheCreditBackOfANoticeThatThereIsNoMemoryToStamp() {
        open(1);
        writeAll(1, 2);
        receive(keeping(1, 1));
        assertSent(1);
        TestMessage notice = message(NOTICE, 1, 0);
        notice.isUnstampable = true;
        assertInstanceOf(OutOfMemoryError.class, write(notice).cause());
        assertEquals(0, notice.refCnt());
        assertSent(2);
        receive(response(2, 1));
        assertEquals(0, gate.statistics().requests().inProgress());
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
        List<TestMessage> unproven = new ArrayList<>();
        int xid = 0;
        int limit = 1;
        for (int i = 0; i < 20_000; i++) {
            if (random.nextBoolean() || unproven.stream().noneMatch(sent -> sent.role() == REQUEST)) {
                busy.writeOneOutbound(request(xid++));
            } else {
                TestMessage answered = pick(unproven, random);
                limit = 2 + random.nextInt(7);
                boolean keeps = random.nextInt(3) == 0;
                busy.writeInbound(keeps ? keeping(answered.xid(), limit) : response(answered.xid(), limit));
                busy.<TestMessage>readInbound().release();
                int place = unproven.indexOf(answered);
                unproven.removeIf(sent -> sent.role() == NOTICE && unproven.indexOf(sent) < place);
                unproven.remove(answered);
                if (keeps) {
                    busy.writeOneOutbound(message(NOTICE, answered.xid(), 0));
                }
            }
            busy.flushOutbound();
            int before = unproven.size();
            for (TestMessage sent = busy.readOutbound(); sent != null; sent = busy.readOutbound()) {
                boolean onlyNotices = unproven.stream().allMatch(other -> other.role() == NOTICE);
                unproven.add(sent);
                sent.release();
                assertTrue(sent.role() == NOTICE || onlyNotices || unproven.size() <= Math.max(limit, before));
            }
        }
        assertTrue(xid > 5000);
        busy.close();
    }

    private TestMessage pick(List<TestMessage> sent, Random random) {
        List<TestMessage> requests = sent.stream().filter(message -> message.role() == REQUEST).toList();
        return requests.get(random.nextInt(requests.size()));
    }

    private TestMessage keeping(int xid, long credits) {
        TestMessage response = response(xid, credits);
        response.keepsCredit = true;
        return response;
    }
}
