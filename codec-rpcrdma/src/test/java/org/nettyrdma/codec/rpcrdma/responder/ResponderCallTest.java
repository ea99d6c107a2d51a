package org.nettyrdma.codec.rpcrdma.responder;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.buffer.Unpooled;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.codec.rpcrdma.header.ChunkLists;
import org.nettyrdma.codec.rpcrdma.header.ReadChunk;
import org.nettyrdma.codec.rpcrdma.header.WriteChunk;

class ResponderCallTest {

    @Test
    void shouldFindTheOnlyHandleInWhateverListItIs() {
        assertEquals(-1, onlyHandle(ChunkLists.EMPTY));
        assertEquals(7, onlyHandle(new ChunkLists(List.of(new ReadChunk(0, segments(7))), List.of(), null)));
        assertEquals(7, onlyHandle(new ChunkLists(List.of(), List.of(chunk(7, 7), chunk(7)), null)));
        assertEquals(7, onlyHandle(new ChunkLists(List.of(), List.of(), chunk(7))));
        assertEquals(7, onlyHandle(new ChunkLists(List.of(new ReadChunk(0, segments(7))), List.of(chunk(7)), chunk(7, 7))));
        assertEquals(0, onlyHandle(new ChunkLists(List.of(), List.of(), chunk(0))));
        assertEquals(0xFFFFFFFFL, onlyHandle(new ChunkLists(List.of(), List.of(), chunk(-1))));
        assertEquals(0xFFFFFFFEL, onlyHandle(new ChunkLists(List.of(), List.of(), chunk(-2, -2))));
    }

    @Test
    void shouldFindNoHandleWhereThereAreSeveral() {
        assertEquals(-1, onlyHandle(new ChunkLists(List.of(), List.of(chunk(7, 8)), null)));
        assertEquals(-1, onlyHandle(new ChunkLists(List.of(), List.of(chunk(7), chunk(8)), chunk(8))));
        assertEquals(-1, onlyHandle(new ChunkLists(List.of(new ReadChunk(0, segments(7, 7))), List.of(), chunk(8))));
        assertEquals(-1, onlyHandle(new ChunkLists(List.of(), List.of(chunk(-1, -2, -1)), null)));
        assertEquals(-1, onlyHandle(new ChunkLists(List.of(), List.of(chunk(7, 8), chunk(9)), chunk(9))));
    }

    @Test
    void shouldNotTakeTheHandleOfNothingButEmptySegments() {
        WriteChunk empty = new WriteChunk(List.of(new RemoteSegment(7, 0, 0)));
        assertEquals(-1, onlyHandle(new ChunkLists(List.of(), List.of(empty), empty)));
        assertEquals(7, onlyHandle(new ChunkLists(List.of(), List.of(empty), chunk(7))));
        assertEquals(-1, onlyHandle(new ChunkLists(List.of(), List.of(empty), chunk(8))));
    }

    private static long onlyHandle(ChunkLists chunks) {
        return new ResponderCall(chunks, Unpooled.EMPTY_BUFFER, 0).onlyHandle();
    }

    private static WriteChunk chunk(int... handles) {
        return new WriteChunk(segments(handles));
    }

    private static List<RemoteSegment> segments(int... handles) {
        return Arrays.stream(handles).mapToObj(handle -> new RemoteSegment(handle, 1, 0)).toList();
    }
}
