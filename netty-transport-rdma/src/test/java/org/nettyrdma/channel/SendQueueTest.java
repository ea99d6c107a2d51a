package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.ReferenceCounted;
import java.lang.reflect.Proxy;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.nettyrdma.channel.RdmaChannelStatistics.Counter;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.SendWorkRequest;
import org.nettyrdma.verbs.WorkCompletionStatus;
import org.nettyrdma.verbs.iwarp.IwarpProvider;

/** What is posted and not completed, with a device that completes when the test says so. */
class SendQueueTest {

    private static final int CHANNEL_ID = 5;
    private static final int DEPTH = 100; // no power of two

    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final PostingTools tools = PostingTools.of(new IwarpProvider());
    private final RdmaChannelStatistics statistics = new RdmaChannelStatistics();
    private final RdmaChannel ended = new RdmaChannel();
    private final RdmaChannelConfig config = ended.config().setSendQueueDepth(DEPTH);
    private final List<Long> posted = new ArrayList<>();
    private final QueuePair device = (QueuePair) Proxy.newProxyInstance(getClass().getClassLoader(),
            new Class<?>[] {QueuePair.class}, (proxy, method, arguments) -> {
                assertEquals("postSend", method.getName());
                posted.add(((SendWorkRequest) arguments[0]).workRequestId());
                return null;
            });

    private SendQueue newQueue() {
        return new SendQueue(tools, device, CHANNEL_ID, config, statistics);
    }

    private ChannelOutboundBuffer outbound() {
        return channel.unsafe().outboundBuffer();
    }

    private void write(Object message, int bytes) {
        outbound().addMessage(message, bytes, channel.newPromise());
        outbound().addFlush();
    }

    private ByteBuf newMessage() {
        return tools.registeredAllocator().directBuffer(8, 8).writeLong(1);
    }

    private void complete(SendQueue queue, Object expected) {
        long id = posted.remove(0);
        assertEquals(CHANNEL_ID, WorkRequestId.channelId(id));
        assertSame(expected, outbound().current());
        queue.complete(WorkRequestId.slot(id), true);
        assertNotSame(expected, outbound().current());
    }

    @Test
    void shouldCompleteInOrderWhereverTheRingGrowsAndHoldTheDepth() throws Exception {
        for (int before = 0; before < 20; before += 3) {
            SendQueue queue = newQueue();
            for (int i = 0; i < before; i++) { // so that the ring does not begin with its oldest entry
                ByteBuf message = newMessage();
                write(message, 8);
                queue.postFlushed(outbound(), true);
                complete(queue, message);
            }
            List<ByteBuf> messages = new ArrayList<>();
            for (int i = 0; i < DEPTH + 1; i++) {
                messages.add(newMessage());
                write(messages.get(i), 8);
            }
            queue.postFlushed(outbound(), true);
            assertEquals(DEPTH, queue.outstanding());
            assertTrue(queue.wasFull());
            assertEquals(1, messages.get(DEPTH - 1).refCnt(), "that of the outbound buffer, until the channel is closed");
            for (int i = 0; i < DEPTH; i++) {
                complete(queue, messages.get(i));
                assertEquals(0, messages.get(i).refCnt());
            }
            queue.postFlushed(outbound(), true);
            complete(queue, messages.get(DEPTH));
            assertFalse(queue.wasFull());
        }
    }

    @Test
    void shouldKeepTheSinksOfReadsWhereverTheRingGrows() throws Exception {
        SendQueue queue = newQueue();
        ByteBuf first = newMessage();
        write(first, 8);
        queue.postFlushed(outbound(), true);
        complete(queue, first);
        List<Object> messages = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            ByteBuf sink = i % 3 == 0 ? Unpooled.buffer(16) : tools.registeredAllocator().directBuffer(16, 16);
            messages.add(i % 2 == 0 ? new RdmaRead(new RemoteSegment(7, 16, 0), sink.retain()) : newMessage());
            sink.release();
            write(messages.get(i), 8);
        }
        queue.postFlushed(outbound(), true);
        for (Object message : messages) {
            if (message instanceof RdmaRead read) {
                ByteBuf sink = read.content().retain();
                complete(queue, message);
                assertEquals(16, sink.writerIndex());
                sink.release();
            } else {
                complete(queue, message);
            }
        }
        assertEquals(7 * 16, statistics.get(Counter.COPIED_BYTES), "into the sinks that are not registered");
        assertEquals(20, statistics.get(Counter.READS));
    }

    @Test
    void shouldKeepWhatTheDeviceUsesBeyondTheEndOfTheChannel() throws Exception {
        SendQueue queue = newQueue();
        List<ReferenceCounted> messages = List.of(newMessage(), new RdmaSend(newMessage()),
                new RdmaRead(new RemoteSegment(7, 16, 0), tools.registeredAllocator().directBuffer(16, 16)), newMessage());
        for (ReferenceCounted message : messages) {
            write(message, 8);
        }
        queue.postFlushed(outbound(), true);
        ByteBuf notPosted = newMessage();
        write(notPosted, 8);
        queue.hold();
        queue.hold(); // as a close may fail half-way and be tried again
        for (ReferenceCounted message : messages) {
            assertEquals(2, message.refCnt(), "the device holds a reference of its own");
            outbound().remove(new ClosedChannelException());
            assertEquals(1, message.refCnt());
        }
        assertEquals(1, notPosted.refCnt(), "what is not posted is not held");
        outbound().remove(new ClosedChannelException());
        assertEquals(0, notPosted.refCnt());
        for (ReferenceCounted message : messages) {
            queue.complete(WorkRequestId.slot(posted.remove(0)), message != messages.get(3));
            assertEquals(0, message.refCnt());
        }
        assertEquals(0, queue.outstanding());
    }

    @Test
    void shouldKeepTheOthersWhereOneWasReleasedTooOften() throws Exception {
        SendQueue queue = newQueue();
        ByteBuf first = newMessage();
        ByteBuf second = newMessage();
        write(first, 8);
        write(second, 8);
        queue.postFlushed(outbound(), true);
        first.release();
        queue.hold();
        assertEquals(2, second.refCnt());
        queue.releasePosted();
        assertEquals(1, second.refCnt());
        second.release();
    }

    @Test
    void shouldReleaseAllThatIsPostedAfterGrowth() throws Exception {
        SendQueue queue = newQueue();
        List<ByteBuf> messages = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            messages.add(newMessage());
            write(messages.get(i), 8);
        }
        queue.postFlushed(outbound(), true);
        queue.hold();
        queue.releasePosted();
        for (ByteBuf message : messages) {
            assertEquals(1, message.refCnt());
            outbound().remove();
            assertEquals(0, message.refCnt());
        }
    }

    /** The outbound buffer keeps those with which the device has failed until the channel fails them. */
    @Test
    void shouldHoldThoseBehindOneWithWhichTheDeviceHasFailed() throws Exception {
        SendQueue queue = newQueue();
        List<ByteBuf> messages = List.of(newMessage(), newMessage(), newMessage());
        for (ByteBuf message : messages) {
            write(message, 8);
        }
        queue.postFlushed(outbound(), true);
        queue.complete(WorkRequestId.slot(posted.remove(0)), false);
        queue.hold();
        assertEquals(List.of(1, 2, 2), messages.stream().map(ReferenceCounted::refCnt).toList());
        queue.complete(WorkRequestId.slot(posted.remove(0)), false);
        queue.complete(WorkRequestId.slot(posted.remove(0)), false);
        for (ByteBuf message : messages) {
            assertEquals(1, message.refCnt());
            outbound().remove();
        }
    }

    /** The outbound buffer keeps it, too. */
    @Test
    void shouldHoldThoseBehindAReadWhoseSinkWasFilledMeanwhile() throws Exception {
        SendQueue queue = newQueue();
        ByteBuf sink = Unpooled.buffer(16, 16);
        write(new RdmaRead(new RemoteSegment(7, 16, 0), sink), 8);
        ByteBuf second = newMessage();
        write(second, 8);
        queue.postFlushed(outbound(), true);
        sink.writeLong(1);
        int slot = WorkRequestId.slot(posted.remove(0));
        assertThrows(IndexOutOfBoundsException.class, () -> queue.complete(slot, true));
        queue.hold();
        assertEquals(2, second.refCnt());
        queue.complete(WorkRequestId.slot(posted.remove(0)), true);
        assertEquals(1, second.refCnt());
        outbound().remove();
        outbound().remove();
        assertEquals(0, sink.refCnt());
    }

    private void writeCancelled() {
        ChannelPromise promise = channel.newPromise();
        outbound().addMessage(newMessage(), 8, promise);
        assertTrue(promise.cancel(false));
        outbound().addFlush();
    }

    @Test
    void shouldLeaveNothingThatWasCancelledWhereNoCompletionIsDue() throws Exception {
        SendQueue queue = newQueue();
        writeCancelled();
        writeCancelled();
        queue.postFlushed(outbound(), true);
        assertEquals(0, queue.outstanding());
        assertEquals(0, outbound().size());
    }

    @Test
    void shouldLeaveNothingThatWasCancelledBehindTheLastCompletion() throws Exception {
        SendQueue queue = newQueue();
        ByteBuf first = newMessage();
        write(first, 8);
        writeCancelled();
        ByteBuf second = newMessage();
        write(second, 8);
        writeCancelled();
        queue.postFlushed(outbound(), true);
        complete(queue, first);
        assertEquals(2, outbound().size());
        complete(queue, second);
        assertEquals(0, outbound().size());
    }

    /** A device may tell of the end of the connection before it tells of what was sent. */
    @Test
    void shouldConfirmNothingThatTheEndOfTheConnectionHasFailed() throws Exception {
        WorkRequests work = new WorkRequests(ended, config, tools, device, null, () -> { });
        ByteBuf message = newMessage();
        ChannelOutboundBuffer outbound = ended.unsafe().outboundBuffer();
        outbound.addMessage(message, 8, ended.newPromise());
        outbound.addFlush();
        work.sends().postFlushed(outbound, true);
        work.sends().hold();
        assertTrue(outbound.remove(new ClosedChannelException()));
        work.completed(posted.remove(0), WorkCompletionStatus.SUCCESS, 8, false, 0, 0);
        assertEquals(0, work.sends().outstanding());
        assertEquals(0, message.refCnt());
    }

    @Test
    void shouldRefuseACompletionThatIsNotTheOldest() throws Exception {
        SendQueue queue = newQueue();
        ByteBuf message = newMessage();
        assertThrows(IllegalStateException.class, () -> queue.complete(0, true));
        write(message, 8);
        queue.postFlushed(outbound(), true);
        assertThrows(IllegalStateException.class, () -> queue.complete(1, true));
        complete(queue, message);
    }
}
