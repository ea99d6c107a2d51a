package org.nettyrdma.handler.credit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.nettyrdma.handler.credit.CreditedMessage.Role.REQUEST;
import static org.nettyrdma.handler.credit.CreditedMessage.Role.RESPONSE;

import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;

/**
 * A gate for 16 requests in progress, 4 that wait and 8 of the peer, alone in its channel. Whatever a test does, every message
 * that it has made is released once.
 */
abstract class CreditGateFixture {

    final CreditGate gate = new CreditGate(16, 4, 8);
    final EmbeddedChannel channel = new EmbeddedChannel(gate);
    private final List<TestMessage> messages = new ArrayList<>();

    @AfterEach
    void shouldReleaseEveryMessageOnce() {
        channel.releaseInbound();
        channel.releaseOutbound();
        channel.finishAndReleaseAll();
        messages.forEach(message -> assertEquals(0, message.refCnt(), message.toString()));
    }

    /** One request and its response, which grants {@code credits}. */
    void open(long credits) {
        write(request(1000));
        assertSent(1000);
        receive(response(1000, credits));
    }

    void writeAll(int firstXid, int lastXid) {
        for (int xid = firstXid; xid <= lastXid; xid++) {
            write(request(xid));
        }
    }

    ChannelFuture write(TestMessage message) {
        return channel.writeAndFlush(message);
    }

    /** With a promise that fails when the write begins. */
    ChannelFuture writeWithoutMemory(TestMessage message) {
        return channel.writeAndFlush(message, new DefaultChannelPromise(channel) {
            @Override
            public boolean setUncancellable() {
                throw new OutOfMemoryError("expected");
            }
        });
    }

    /** A gate above what refuses the messages up to a number. */
    static EmbeddedChannel refusingUpTo(int lastXid) {
        return new EmbeddedChannel(new ChannelOutboundHandlerAdapter() {
            @Override
            public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
                if (((TestMessage) msg).xid() <= lastXid) {
                    ((TestMessage) msg).release();
                    promise.setFailure(new IllegalArgumentException("not this one"));
                } else {
                    ctx.write(msg, promise);
                }
            }
        }, new CreditGate(16));
    }

    void receive(TestMessage message) {
        channel.writeInbound(message);
        channel.<TestMessage>readInbound().release();
    }

    void assertSent(int... xids) {
        List<Integer> sent = new ArrayList<>();
        for (TestMessage message = channel.readOutbound(); message != null; message = channel.readOutbound()) {
            sent.add(message.xid());
            message.release();
        }
        assertEquals(IntStream.of(xids).boxed().toList(), sent);
    }

    TestMessage request(int xid) {
        return message(REQUEST, xid, 0);
    }

    TestMessage response(int xid, long credits) {
        return message(RESPONSE, xid, credits);
    }

    TestMessage message(CreditedMessage.Role role, int xid, long credits) {
        TestMessage message = new TestMessage(role, xid, credits);
        messages.add(message);
        return message;
    }
}
