package org.nettyrdma.codec.rpcrdma.requester;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.codec.oncrpc.ReplySpace;
import org.nettyrdma.codec.rpcrdma.CallLayout;
import org.nettyrdma.codec.rpcrdma.CallRoute;
import org.nettyrdma.codec.rpcrdma.PeerPolicy;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException.Reason;
import org.nettyrdma.codec.rpcrdma.RpcRdmaLimits;
import org.nettyrdma.codec.rpcrdma.header.ReverseRequestSupport;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaError;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaVersion;
import org.nettyrdma.codec.rpcrdma.shared.InlineThreshold;

class RequestPlannerTest {

    private static final int MAX_MESSAGE_BYTES = 100_000;
    /** Two results, a Write chunk each. */
    private static final CallLayout LOAD_TWO = new CallLayout(List.of(), new ReplySpace(40, List.of(5000, 6000)));
    private static final CallLayout SMALL = new CallLayout(List.of(), new ReplySpace(40));
    /** One argument, a Read chunk. */
    private static final int STORE_BYTES = 9052;
    private static final CallLayout STORE = new CallLayout(List.of(new DataItem(48, 9000)), new ReplySpace(36));

    private InlineThreshold threshold = new InlineThreshold(4096, 4096, RpcRdmaVersion.TWO);
    private ReverseRequestSupport support = ReverseRequestSupport.GENERAL;
    private final RequestPlanner planner = new RequestPlanner(RpcRdmaLimits.DEFAULT.withMaxMessageBytes(MAX_MESSAGE_BYTES),
            PeerPolicy.CONSERVATIVE, () -> threshold, () -> support);

    private RequestPlan again(CallLayout layout, int callBytes, RpcRdmaError error) throws RpcRdmaException {
        return planner.planAgain(planner.plan(callBytes, layout), callBytes, layout, error);
    }

    @Test
    void shouldPlanForWhatHoldsNow() throws RpcRdmaException {
        CallLayout echo = new CallLayout(List.of(), new ReplySpace(40));
        assertEquals(CallRoute.INLINE, planner.plan(2000, echo).route());
        threshold = new InlineThreshold(1024, 4096, RpcRdmaVersion.TWO);
        assertEquals(CallRoute.LONG, planner.plan(2000, echo).route());
    }

    @Test
    void shouldPlanReverseCallsWithinWhatTheClientTells() throws RpcRdmaException {
        support = ReverseRequestSupport.INLINE;
        assertFalse(planner.plan(100, LOAD_TWO).hasChunks(), "although the reply may not fit");
        assertSame(Reason.TOO_LARGE, assertThrows(RpcRdmaException.class, () -> planner.plan(5000, SMALL)).reason());
        support = ReverseRequestSupport.NONE;
        assertSame(Reason.UNSUPPORTED, assertThrows(RpcRdmaException.class, () -> planner.plan(100, SMALL)).reason());
    }

    @ParameterizedTest
    @ValueSource(strings = {"NONE", "INLINE"})
    void shouldNotPlanAgainWhatMayNotHaveChunks(ReverseRequestSupport told) throws RpcRdmaException {
        RequestPlan refused = planner.plan(100, SMALL);
        support = told;
        assertNull(planner.planAgain(refused, 100, SMALL, new RpcRdmaError.ReplyResource(9000)));
    }

    @Test
    void shouldOfferWhatAWriteChunkLacksAndLeaveTheOthers() throws RpcRdmaException {
        assertEquals(List.of(5000, 8000), again(LOAD_TWO, 48, new RpcRdmaError.WriteResource(2, 8000)).writeChunkBytes());
        assertEquals(List.of(94_000, 6000), again(LOAD_TWO, 48, new RpcRdmaError.WriteResource(1, 94_000)).writeChunkBytes());
    }

    /** No more than a message may have, all chunks of the reply together. */
    @Test
    void shouldNotOfferMoreThanAMessageMayHave() throws RpcRdmaException {
        assertNull(again(LOAD_TWO, 48, new RpcRdmaError.WriteResource(1, 94_004)));
        assertNull(again(LOAD_TWO, 48, new RpcRdmaError.WriteResource(1, MAX_MESSAGE_BYTES + 1)));
        assertNull(again(LOAD_TWO, 48, new RpcRdmaError.WriteResource(1, 0xffff_ffffL)));
        assertNull(again(SMALL, 48, new RpcRdmaError.ReplyResource(MAX_MESSAGE_BYTES + 1)));
        assertNull(again(SMALL, 48, new RpcRdmaError.ReplyResource(0xffff_ffffL)));
    }

    @Test
    void shouldNotPlanAgainForAWriteChunkThatIsNotThereOrLargeEnough() throws RpcRdmaException {
        assertNull(again(LOAD_TWO, 48, new RpcRdmaError.WriteResource(0, 8000)));
        assertNull(again(LOAD_TWO, 48, new RpcRdmaError.WriteResource(3, 8000)));
        assertNull(again(LOAD_TWO, 48, new RpcRdmaError.WriteResource(0xffff_ffffL, 8000)));
        assertNull(again(LOAD_TWO, 48, new RpcRdmaError.WriteResource(1, 5000)));
        assertNull(again(SMALL, 48, new RpcRdmaError.WriteResource(1, 8000)));
    }

    @Test
    void shouldOfferAReplyChunkOfTheLengthNeeded() throws RpcRdmaException {
        RequestPlan plan = again(SMALL, 48, new RpcRdmaError.ReplyResource(8001));
        assertEquals(8004, plan.replyChunkBytes());
        assertEquals(List.of(), plan.writeChunkBytes());
        assertNull(planner.planAgain(plan, 48, SMALL, new RpcRdmaError.ReplyResource(8004)), "it was offered that much");
        assertNull(again(SMALL, 48, new RpcRdmaError.ReplyResource(0)));
    }

    @Test
    void shouldAddToTheReplyChunkWhatTheWriteChunksWouldHaveTaken() throws RpcRdmaException {
        RequestPlan plan = again(LOAD_TWO, 48, new RpcRdmaError.ReplyResource(4));
        assertEquals(4 + 5000 + 6000, plan.replyChunkBytes());
        assertEquals(List.of(), plan.writeChunkBytes());
        assertEquals(MAX_MESSAGE_BYTES, again(LOAD_TWO, 48, new RpcRdmaError.ReplyResource(99_000)).replyChunkBytes());
    }

    @Test
    void shouldUseAReplyChunkFromThenOnWhereWriteChunksAreTooMany() throws RpcRdmaException {
        assertEquals(40 + 5000 + 6000, again(LOAD_TWO, 48, new RpcRdmaError.WriteChunks(1)).replyChunkBytes());
        assertEquals(List.of(), planner.plan(48, LOAD_TWO).writeChunkBytes());
        CallLayout load = new CallLayout(List.of(), new ReplySpace(40, List.of(5000)));
        assertEquals(List.of(5000), planner.plan(48, load).writeChunkBytes());
    }

    @Test
    void shouldUseAPositionZeroReadChunkFromThenOnWhereNoOtherIsTaken() throws RpcRdmaException {
        RequestPlan refused = planner.plan(STORE_BYTES, STORE);
        assertEquals(CallRoute.READ_CHUNK, refused.route());
        RequestPlan plan = planner.planAgain(refused, STORE_BYTES, STORE, new RpcRdmaError.ReadChunks(0));
        assertEquals(CallRoute.LONG, plan.route());
        assertEquals(List.of(), plan.readItems());
        assertNull(planner.planAgain(plan, STORE_BYTES, STORE, new RpcRdmaError.ReadChunks(0)), "it MUST end with an error");
        assertEquals(plan, planner.plan(STORE_BYTES, STORE));
    }

    @Test
    void shouldUseNoMoreSegmentsThanAreTaken() throws RpcRdmaException {
        assertEquals(16, planner.plan(STORE_BYTES, STORE).maxSegments());
        assertEquals(3, again(STORE, STORE_BYTES, new RpcRdmaError.Segments(3)).maxSegments());
        assertEquals(3, planner.plan(STORE_BYTES, STORE).maxSegments());
        assertNull(again(STORE, STORE_BYTES, new RpcRdmaError.Segments(0)));
    }

    @Test
    void shouldNotPlanTheSameAgain() throws RpcRdmaException {
        assertNull(again(STORE, STORE_BYTES, new RpcRdmaError.ReadChunks(1)));
        assertNull(again(LOAD_TWO, 48, new RpcRdmaError.WriteChunks(2)));
        assertNull(again(LOAD_TWO, 48, new RpcRdmaError.Segments(1)));
    }

    @Test
    void shouldNotPlanAgainBehindErrorsThatSayNothing() throws RpcRdmaException {
        for (RpcRdmaError error : List.of(RpcRdmaError.BAD_XDR, RpcRdmaError.INVALID_HEADER_TYPE, RpcRdmaError.SYSTEM,
                new RpcRdmaError.Versions(1, 1), new RpcRdmaError.Unknown(77))) {
            assertNull(again(LOAD_TWO, 48, error), error::toString);
        }
    }

    /** The peer has made its receives smaller in the meantime: the call ends with the error, which says why. */
    @Test
    void shouldGiveUpWhereNothingFitsAnyMore() throws RpcRdmaException {
        RequestPlan refused = planner.plan(48, LOAD_TWO);
        assertTrue(refused.hasChunks());
        assertNotNull(planner.planAgain(refused, 48, LOAD_TWO, new RpcRdmaError.WriteResource(1, 8000)));
        threshold = new InlineThreshold(64, 4096, RpcRdmaVersion.TWO);
        assertNull(planner.planAgain(refused, 48, LOAD_TWO, new RpcRdmaError.WriteResource(1, 8000)));
    }
}
