package org.nettyrdma.codec.rpcrdma.requester;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.codec.oncrpc.ReplySpace;
import org.nettyrdma.codec.rpcrdma.CallLayout;
import org.nettyrdma.codec.rpcrdma.PeerPolicy;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaError;

class ResponderLimitsTest {

    private static final PeerPolicy POLICY = new PeerPolicy(4, true, 16, 1 << 20);
    private static final CallLayout LAYOUT = new CallLayout(List.of(new DataItem(44, 5000), new DataItem(5048, 6000)),
            new ReplySpace(100, List.of(5001, 6000)));

    private final ResponderLimits unknown = ResponderLimits.UNKNOWN;

    @Test
    void shouldChangeNothingBeforeTheResponderHasSaidAnything() {
        assertSame(POLICY, unknown.within(POLICY));
        assertSame(LAYOUT, unknown.within(LAYOUT));
    }

    @Test
    void shouldLearnEachLimitAlone() {
        int none = Integer.MAX_VALUE;
        assertEquals(new ResponderLimits(3, none, none), unknown.learn(new RpcRdmaError.ReadChunks(3)));
        assertEquals(new ResponderLimits(none, 3, none), unknown.learn(new RpcRdmaError.WriteChunks(3)));
        assertEquals(new ResponderLimits(none, none, 3), unknown.learn(new RpcRdmaError.Segments(3)));
    }

    @Test
    void shouldLearnThatNoChunksAreTaken() {
        assertEquals(0, unknown.learn(new RpcRdmaError.ReadChunks(0)).maxReadChunks());
        assertEquals(0, unknown.learn(new RpcRdmaError.WriteChunks(0)).maxWriteChunks());
    }

    /** A chunk without segments conveys nothing, so this says nothing that could be obeyed. */
    @Test
    void shouldNotBelieveThatNoSegmentsAreTaken() {
        assertSame(unknown, unknown.learn(new RpcRdmaError.Segments(0)));
    }

    @Test
    void shouldLearnNothingFromOtherErrors() {
        for (RpcRdmaError error : List.of(RpcRdmaError.BAD_XDR, RpcRdmaError.INVALID_HEADER_TYPE, RpcRdmaError.SYSTEM,
                new RpcRdmaError.Versions(1, 1), new RpcRdmaError.WriteResource(1, 10), new RpcRdmaError.ReplyResource(10),
                new RpcRdmaError.Unknown(77))) {
            assertSame(unknown, unknown.learn(error), error::toString);
        }
    }

    @Test
    void shouldNeverRaiseALimit() {
        ResponderLimits low = unknown.learn(new RpcRdmaError.ReadChunks(1)).learn(new RpcRdmaError.WriteChunks(1))
                .learn(new RpcRdmaError.Segments(1));
        assertEquals(low, low.learn(new RpcRdmaError.ReadChunks(2)).learn(new RpcRdmaError.WriteChunks(0xffff_ffffL))
                .learn(new RpcRdmaError.Segments(2)));
    }

    @Test
    void shouldOfferNoMoreThanPolicyAndResponderAllow() {
        assertEquals(new PeerPolicy(2, true, 3, 1 << 20),
                unknown.learn(new RpcRdmaError.ReadChunks(2)).learn(new RpcRdmaError.Segments(3)).within(POLICY));
        assertEquals(POLICY, unknown.learn(new RpcRdmaError.ReadChunks(100)).learn(new RpcRdmaError.Segments(100))
                .within(POLICY));
    }

    /** That one is always taken (version-two-08, section 5.3.3), and then nothing else may stand beside it. */
    @Test
    void shouldKeepThePositionZeroReadChunkWhereNoReadChunksAreTaken() {
        ResponderLimits limits = unknown.learn(new RpcRdmaError.ReadChunks(0));
        assertEquals(1, limits.within(POLICY).maxReadChunks());
        assertEquals(new CallLayout(List.of(), LAYOUT.replySpace()), limits.within(LAYOUT));
    }

    @Test
    void shouldMakeRoomForTheWholeReplyWhereWriteChunksAreTooFew() {
        for (int max = 0; max < 2; max++) {
            assertEquals(new CallLayout(LAYOUT.items(), new ReplySpace(100 + 5004 + 6000)),
                    unknown.learn(new RpcRdmaError.WriteChunks(max)).within(LAYOUT));
        }
        assertEquals(LAYOUT, unknown.learn(new RpcRdmaError.WriteChunks(2)).within(LAYOUT));
    }

    @Test
    void shouldNotOverflowWhereTheWholeReplyIsHuge() {
        int most = Integer.MAX_VALUE - 3;
        CallLayout layout = new CallLayout(List.of(), new ReplySpace(100, List.of(most, most)));
        assertEquals(new ReplySpace(Integer.MAX_VALUE), unknown.learn(new RpcRdmaError.WriteChunks(1)).within(layout)
                .replySpace());
    }

    @Test
    void shouldLeaveRepliesOfUnknownSizeAlone() {
        CallLayout layout = new CallLayout(List.of(), null);
        assertEquals(layout, unknown.learn(new RpcRdmaError.WriteChunks(0)).within(layout));
    }
}
