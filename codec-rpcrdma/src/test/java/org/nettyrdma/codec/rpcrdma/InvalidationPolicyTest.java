package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.codec.rpcrdma.shared.InvalidationPolicy.NONE;
import static org.nettyrdma.codec.rpcrdma.shared.InvalidationPolicy.PER_CALL;
import static org.nettyrdma.codec.rpcrdma.shared.InvalidationPolicy.PER_CONNECTION;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.codec.rpcrdma.header.ChunkLists;
import org.nettyrdma.codec.rpcrdma.header.PropertySet;
import org.nettyrdma.codec.rpcrdma.header.ReadChunk;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaVersion;
import org.nettyrdma.codec.rpcrdma.header.WriteChunk;
import org.nettyrdma.codec.rpcrdma.shared.InvalidationPolicy;

class InvalidationPolicyTest {

    private static ConnectionTerms terms(RpcRdmaVersion version, boolean may, boolean mayBe) {
        return new ConnectionTerms(version, 4096, 4096, may, mayBe, true, PropertySet.EMPTY);
    }

    private static WriteChunk chunk(int handle, long length) {
        return new WriteChunk(List.of(new RemoteSegment(handle, length, 0)));
    }

    @Test
    void shouldFollowFromTheTermsOfEachDirection() {
        assertEquals(PER_CALL, InvalidationPolicy.ofRequester(terms(RpcRdmaVersion.TWO, false, true)));
        assertEquals(PER_CONNECTION, InvalidationPolicy.ofResponder(terms(RpcRdmaVersion.ONE, true, false)));
        assertEquals(NONE, InvalidationPolicy.ofResponder(terms(RpcRdmaVersion.TWO, false, true)));
        assertEquals(NONE, InvalidationPolicy.ofRequester(terms(RpcRdmaVersion.ONE, true, false)));
    }

    @Test
    void shouldNameTheLargestRegionOfAllLists() {
        ReadChunk read = new ReadChunk(0, List.of(new RemoteSegment(1, 10, 0), new RemoteSegment(2, 30, 0)));
        assertEquals(2, PER_CALL.handleToName(new ChunkLists(List.of(read), List.of(chunk(3, 20)), chunk(4, 29))));
        assertEquals(3, PER_CALL.handleToName(new ChunkLists(List.of(read), List.of(chunk(3, 31)), chunk(4, 29))));
        assertEquals(4, PER_CALL.handleToName(new ChunkLists(List.of(read), List.of(chunk(3, 31)), chunk(4, 32))));
        assertEquals(2, PER_CALL.handleToName(new ChunkLists(List.of(read), List.of(chunk(3, 30)), null)), "the first of equals");
    }

    @Test
    void shouldNameNoHandleThatIsZero() {
        assertEquals(5, PER_CALL.handleToName(new ChunkLists(List.of(), List.of(chunk(0, 100), chunk(5, 1)), null)));
        assertEquals(0, PER_CALL.handleToName(new ChunkLists(List.of(), List.of(chunk(0, 100)), null)));
        assertEquals(0, PER_CALL.handleToName(ChunkLists.EMPTY));
    }

    @Test
    void shouldAllowNoOtherThanTheNamedHandle() {
        ChunkLists offered = new ChunkLists(List.of(), List.of(chunk(7, 10), chunk(8, 20)), null, 8);
        assertTrue(PER_CALL.allows(offered, 8));
        assertFalse(PER_CALL.allows(offered, 7));
        assertTrue(PER_CONNECTION.allows(offered, 7));
        assertFalse(NONE.allows(offered, 8));
    }

    @Test
    void shouldWithdrawTheNamedHandleWhereverItIsListed() {
        ReadChunk read = new ReadChunk(0, List.of(new RemoteSegment(0xffffff01, 10, 0)));
        for (int handle : new int[] {0xffffff01, 3, 4}) {
            ChunkLists chunks = new ChunkLists(List.of(read), List.of(chunk(3, 20)), chunk(4, 29), handle);
            assertEquals(handle & 0xFFFF_FFFFL, PER_CALL.handleToWithdraw(chunks));
        }
        ChunkLists foreign = new ChunkLists(List.of(read), List.of(chunk(3, 20)), chunk(4, 29), 5);
        assertEquals(-1, PER_CALL.handleToWithdraw(foreign));
        assertEquals(-1, PER_CALL.handleToWithdraw(new ChunkLists(List.of(read), List.of(), null)));
        assertEquals(-1, NONE.handleToWithdraw(foreign));
    }

    @Test
    void shouldWithdrawTheOnlyHandlePerConnection() {
        assertEquals(0, PER_CONNECTION.handleToName(new ChunkLists(List.of(), List.of(chunk(3, 20)), null)));
        assertEquals(3, PER_CONNECTION.handleToWithdraw(new ChunkLists(List.of(), List.of(chunk(3, 20)), chunk(3, 5))));
        assertEquals(-1, PER_CONNECTION.handleToWithdraw(new ChunkLists(List.of(), List.of(chunk(3, 20)), chunk(4, 5))));
    }

    @Test
    void shouldFindTheOnlyHandleInWhateverListItIs() {
        assertEquals(-1, onlyHandle(ChunkLists.EMPTY));
        assertEquals(7, onlyHandle(new ChunkLists(List.of(new ReadChunk(0, segments(7))), List.of(), null)));
        assertEquals(7, onlyHandle(new ChunkLists(List.of(), List.of(chunkOf(7, 7), chunkOf(7)), null)));
        assertEquals(7, onlyHandle(new ChunkLists(List.of(), List.of(), chunkOf(7))));
        assertEquals(7, onlyHandle(new ChunkLists(List.of(new ReadChunk(0, segments(7))), List.of(chunkOf(7)), chunkOf(7, 7))));
        assertEquals(0, onlyHandle(new ChunkLists(List.of(), List.of(), chunkOf(0))));
        assertEquals(0xFFFFFFFFL, onlyHandle(new ChunkLists(List.of(), List.of(), chunkOf(-1))));
        assertEquals(0xFFFFFFFEL, onlyHandle(new ChunkLists(List.of(), List.of(), chunkOf(-2, -2))));
    }

    @Test
    void shouldFindNoHandleWhereThereAreSeveral() {
        assertEquals(-1, onlyHandle(new ChunkLists(List.of(), List.of(chunkOf(7, 8)), null)));
        assertEquals(-1, onlyHandle(new ChunkLists(List.of(), List.of(chunkOf(7), chunkOf(8)), chunkOf(8))));
        assertEquals(-1, onlyHandle(new ChunkLists(List.of(new ReadChunk(0, segments(7, 7))), List.of(), chunkOf(8))));
        assertEquals(-1, onlyHandle(new ChunkLists(List.of(), List.of(chunkOf(-1, -2, -1)), null)));
        assertEquals(-1, onlyHandle(new ChunkLists(List.of(), List.of(chunkOf(7, 8), chunkOf(9)), chunkOf(9))));
    }

    @Test
    void shouldNotTakeTheHandleOfNothingButEmptySegments() {
        WriteChunk empty = new WriteChunk(List.of(new RemoteSegment(7, 0, 0)));
        assertEquals(-1, onlyHandle(new ChunkLists(List.of(), List.of(empty), empty)));
        assertEquals(7, onlyHandle(new ChunkLists(List.of(), List.of(empty), chunkOf(7))));
        assertEquals(-1, onlyHandle(new ChunkLists(List.of(), List.of(empty), chunkOf(8))));
    }

    private static long onlyHandle(ChunkLists chunks) {
        return PER_CONNECTION.handleToWithdraw(chunks);
    }

    private static WriteChunk chunkOf(int... handles) {
        return new WriteChunk(segments(handles));
    }

    private static List<RemoteSegment> segments(int... handles) {
        return Arrays.stream(handles).mapToObj(handle -> new RemoteSegment(handle, 1, 0)).toList();
    }
}
