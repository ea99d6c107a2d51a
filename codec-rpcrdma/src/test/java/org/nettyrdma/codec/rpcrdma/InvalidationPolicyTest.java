package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.Unpooled;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.codec.rpcrdma.header.ChunkLists;
import org.nettyrdma.codec.rpcrdma.header.PropertySet;
import org.nettyrdma.codec.rpcrdma.header.ReadChunk;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaVersion;
import org.nettyrdma.codec.rpcrdma.header.WriteChunk;
import org.nettyrdma.codec.rpcrdma.responder.ResponderCall;
import org.nettyrdma.codec.rpcrdma.shared.InvalidationPolicy;

class InvalidationPolicyTest {

    private static final InvalidationPolicy PER_CALL = InvalidationPolicy.ofRequester(terms(RpcRdmaVersion.TWO, false, true));
    private static final InvalidationPolicy PER_CONNECTION =
            InvalidationPolicy.ofResponder(terms(RpcRdmaVersion.ONE, true, false));

    private static ConnectionTerms terms(RpcRdmaVersion version, boolean may, boolean mayBe) {
        return new ConnectionTerms(version, 4096, 4096, may, mayBe, true, PropertySet.EMPTY);
    }

    private static WriteChunk chunk(int handle, long length) {
        return new WriteChunk(List.of(new RemoteSegment(handle, length, 0)));
    }

    private static ResponderCall call(ChunkLists chunks) {
        return new ResponderCall(chunks, Unpooled.EMPTY_BUFFER, 0);
    }

    @Test
    void shouldFollowFromTheTermsOfEachDirection() {
        assertInstanceOf(InvalidationPolicy.PerCall.class, PER_CALL);
        assertInstanceOf(InvalidationPolicy.PerConnection.class, PER_CONNECTION);
        assertSame(InvalidationPolicy.NONE, InvalidationPolicy.ofResponder(terms(RpcRdmaVersion.TWO, false, true)));
        assertSame(InvalidationPolicy.NONE, InvalidationPolicy.ofRequester(terms(RpcRdmaVersion.ONE, true, false)));
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
        assertFalse(InvalidationPolicy.NONE.allows(offered, 8));
    }

    @Test
    void shouldWithdrawTheNamedHandleWhereverItIsListed() {
        ReadChunk read = new ReadChunk(0, List.of(new RemoteSegment(0xffffff01, 10, 0)));
        for (int handle : new int[] {0xffffff01, 3, 4}) {
            ChunkLists chunks = new ChunkLists(List.of(read), List.of(chunk(3, 20)), chunk(4, 29), handle);
            assertEquals(handle & 0xFFFF_FFFFL, PER_CALL.handleToWithdraw(call(chunks)));
        }
        ChunkLists foreign = new ChunkLists(List.of(read), List.of(chunk(3, 20)), chunk(4, 29), 5);
        assertEquals(-1, PER_CALL.handleToWithdraw(call(foreign)));
        assertEquals(-1, PER_CALL.handleToWithdraw(call(new ChunkLists(List.of(read), List.of(), null))));
        assertEquals(-1, InvalidationPolicy.NONE.handleToWithdraw(call(foreign)));
    }

    @Test
    void shouldWithdrawTheOnlyHandlePerConnection() {
        assertEquals(0, PER_CONNECTION.handleToName(new ChunkLists(List.of(), List.of(chunk(3, 20)), null)));
        assertEquals(3, PER_CONNECTION.handleToWithdraw(call(new ChunkLists(List.of(), List.of(chunk(3, 20)), chunk(3, 5)))));
        assertEquals(-1, PER_CONNECTION.handleToWithdraw(call(new ChunkLists(List.of(), List.of(chunk(3, 20)), chunk(4, 5)))));
    }
}
