package org.nettyrdma.codec.rpcrdma.responder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.codec.rpcrdma.Bytes.text;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.nettyrdma.channel.RdmaWrite;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException;
import org.nettyrdma.codec.rpcrdma.header.ChunkLists;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Msg;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.NoMsg;
import org.nettyrdma.codec.rpcrdma.header.WriteChunk;
import org.nettyrdma.codec.rpcrdma.shared.InlineThreshold;

class ReplyPlacementTest {

    private static final InlineThreshold LARGE = new InlineThreshold(1024, 1024);
    /** Room for a chunk-free header and nothing else. */
    private static final InlineThreshold NOTHING = new InlineThreshold(100, 100);

    private final List<String> writes = new ArrayList<>();

    @Test
    void shouldLeaveReplyToACallWithoutChunksAlone() throws RpcRdmaException {
        ByteBuf reply = text("whole reply.");
        ByteBuf body = place(reply, List.of(new DataItem(0, 4)), ChunkLists.EMPTY, LARGE,
                new Msg(5, 0, ChunkLists.EMPTY));
        assertEquals("whole reply.", string(body));
        assertTrue(body.release());
        assertEquals(0, reply.refCnt());
    }

    @Test
    void shouldWriteItemsInOrderAndSkipTheirPadding() throws RpcRdmaException {
        ByteBuf reply = text("headFIRST...midd2ndXtail");
        ChunkLists offered = new ChunkLists(List.of(), List.of(chunk(3, 9), chunk(100)), null);
        ByteBuf body = place(reply, List.of(new DataItem(4, 5), new DataItem(16, 4)), offered, LARGE,
                new Msg(5, 0, new ChunkLists(List.of(), List.of(chunk(3, 2), chunk(4)), null)));

        assertEquals(List.of("FIR", "ST", "2ndX"), writes);
        assertEquals("headmiddtail", string(body));
        assertTrue(body.release());
        assertEquals(0, reply.refCnt());
    }

    @Test
    void shouldReturnChunksOfEmptyAndAbsentItemsUnused() throws RpcRdmaException {
        ChunkLists offered = new ChunkLists(List.of(), List.of(chunk(8), chunk(8), chunk(8)), chunk(50));
        ByteBuf body = place(text("head2ndX"), List.of(new DataItem(4, 0), new DataItem(4, 4)), offered, LARGE,
                new Msg(5, 0, new ChunkLists(List.of(), List.of(chunk(0), chunk(4), chunk(0)), chunk(0))));

        assertEquals(List.of("2ndX"), writes);
        assertEquals("head", string(body));
        body.release();
    }

    @Test
    void shouldLeaveItemsBeyondTheChunksInline() throws RpcRdmaException {
        ChunkLists offered = new ChunkLists(List.of(), List.of(chunk(8)), null);
        ByteBuf body = place(text("head1st.2ndX"), List.of(new DataItem(4, 4), new DataItem(8, 4)), offered, LARGE,
                new Msg(5, 0, new ChunkLists(List.of(), List.of(chunk(4)), null)));
        assertEquals("head2ndX", string(body));
        body.release();
    }

    @Test
    void shouldUseReplyChunkForWhatDoesNotFitInline() throws RpcRdmaException {
        ChunkLists offered = new ChunkLists(List.of(), List.of(), chunk(20, 60, 20));
        ByteBuf reply = text("0123456789".repeat(7));
        ByteBuf body = place(reply, List.of(), offered, NOTHING,
                new NoMsg(5, 0, new ChunkLists(List.of(), List.of(), chunk(20, 50, 0))));

        assertEquals(List.of("01234567890123456789", "0123456789".repeat(5)), writes);
        assertEquals(0, body.readableBytes());
        assertEquals(0, reply.refCnt());
    }

    @Test
    void shouldUseBothWhereBothAreOffered() throws RpcRdmaException {
        ChunkLists offered = new ChunkLists(List.of(), List.of(chunk(8)), chunk(9));
        place(text("head1st.tai"), List.of(new DataItem(4, 4)), offered, new InlineThreshold(72, 72),
                new NoMsg(5, 0, new ChunkLists(List.of(), List.of(chunk(4)), chunk(7))));
        assertEquals(List.of("1st.", "headtai"), writes);
    }

    @Test
    void shouldRefuseWhatDoesNotFit() {
        ByteBuf reply = text("0123456789".repeat(8));
        assertTooLarge(reply, List.of(), ChunkLists.EMPTY);
        assertTooLarge(reply, List.of(), new ChunkLists(List.of(), List.of(), chunk(79)));
        assertTooLarge(reply, List.of(new DataItem(0, 9)), new ChunkLists(List.of(), List.of(chunk(8)), chunk(100)));
        assertEquals(1, reply.refCnt());
    }

    @Test
    void shouldRefuseItemsThatAreNotInTheReply() {
        ChunkLists offered = new ChunkLists(List.of(), List.of(chunk(8), chunk(8)), null);
        ByteBuf reply = text("01234567");
        for (List<DataItem> items : List.of(List.of(new DataItem(8, 1)), List.of(new DataItem(4, 5)),
                List.of(new DataItem(4, 4), new DataItem(0, 4)), List.of(new DataItem(0, 4), new DataItem(2, 2)),
                List.of(new DataItem(Integer.MAX_VALUE, Integer.MAX_VALUE)))) {
            assertThrows(IllegalArgumentException.class, () -> ReplyPlacement.of(reply, items, offered, LARGE),
                    items.toString());
        }
    }

    private static void assertTooLarge(ByteBuf reply, List<DataItem> items, ChunkLists offered) {
        RpcRdmaException e = assertInstanceOf(RpcRdmaException.class,
                assertThrows(Exception.class, () -> ReplyPlacement.of(reply, items, offered, NOTHING)));
        assertEquals(RpcRdmaException.Reason.TOO_LARGE, e.reason());
    }

    private ByteBuf place(ByteBuf reply, List<DataItem> items, ChunkLists offered, InlineThreshold threshold,
                          RpcRdmaHeader expectedHeader) throws RpcRdmaException {
        // Not at index 0, so that a mix-up of positions and indices shows.
        ByteBuf shifted = Unpooled.wrappedBuffer(Unpooled.buffer().writeZero(3), reply).skipBytes(3);
        ReplyPlacement placement = ReplyPlacement.of(shifted, items, offered, threshold);
        assertEquals(expectedHeader, placement.message(5, 0, Unpooled.EMPTY_BUFFER).header());
        return placement.body(UnpooledByteBufAllocator.DEFAULT, this::written);
    }

    private void written(RdmaWrite write) {
        assertEquals(write.target().length(), write.content().readableBytes());
        writes.add(string(write.content()));
        write.release();
    }

    private static String string(ByteBuf bytes) {
        return bytes.toString(StandardCharsets.US_ASCII);
    }

    private static WriteChunk chunk(long... lengths) {
        return new WriteChunk(Arrays.stream(lengths).mapToObj(length -> new RemoteSegment(1, length, 0)).toList());
    }
}
