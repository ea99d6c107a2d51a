package org.nettyrdma.codec.rpcrdma.requester;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.codec.oncrpc.ReplySpace;
import org.nettyrdma.codec.rpcrdma.PeerPolicy;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException;
import org.nettyrdma.codec.rpcrdma.RpcRdmaLimits;
import org.nettyrdma.codec.rpcrdma.shared.InlineThreshold;

/** Sizes are reckoned by hand: a header without chunks has 28 bytes, a Read segment 24, a Write chunk of one segment 24. */
class RequestPlanTest {

    private static final InlineThreshold THRESHOLD = new InlineThreshold(1024, 1024);
    private static final ReplySpace SHORT = new ReplySpace(100);

    @Test
    void shouldSendInlineUpToTheThreshold() throws RpcRdmaException {
        assertFalse(plan(996, List.of(), SHORT).hasChunks());
        assertTrue(plan(997, List.of(), SHORT).isLong());
    }

    @Test
    void shouldOfferNothingForReplyThatIsSureToFit() throws RpcRdmaException {
        assertFalse(plan(100, List.of(), new ReplySpace(996)).hasChunks());
        assertEquals(1000, plan(100, List.of(), new ReplySpace(997)).replyChunkBytes());
        assertFalse(plan(100, List.of(), new ReplySpace(96, List.of(897))).hasChunks());
    }

    @Test
    void shouldOfferWriteChunksWithRoomForPadding() throws RpcRdmaException {
        RequestPlan plan = plan(100, List.of(), new ReplySpace(96, List.of(901)));
        assertEquals(List.of(904), plan.writeChunkBytes());
        assertEquals(0, plan.replyChunkBytes());

        assertEquals(List.of(5000, 4, 8), plan(100, List.of(), new ReplySpace(96, List.of(5000, 0, 5))).writeChunkBytes());
    }

    @Test
    void shouldOfferReplyChunkForEverythingWhereTheRestMayNotFit() throws RpcRdmaException {
        // A reply with one Write chunk has a header of 52 bytes.
        assertEquals(List.of(5000), plan(100, List.of(), new ReplySpace(972, List.of(5000))).writeChunkBytes());

        RequestPlan plan = plan(100, List.of(), new ReplySpace(973, List.of(5001)));
        assertEquals(List.of(), plan.writeChunkBytes());
        assertEquals(980 + 5000, plan.replyChunkBytes());
    }

    @Test
    void shouldOfferBothOnlyWherePolicyAllows() throws RpcRdmaException {
        RequestPlan plan = RequestPlan.of(100, List.of(), new ReplySpace(973, List.of(5001)), THRESHOLD, PeerPolicy.SPECIFICATION,
                RpcRdmaLimits.DEFAULT);
        assertEquals(List.of(5004), plan.writeChunkBytes());
        assertEquals(976, plan.replyChunkBytes());
    }

    @Test
    void shouldCountTheSegmentsOfAnyLength() {
        PeerPolicy policy = new PeerPolicy(1, false, 16, 1000);
        assertEquals(List.of(0L, 1L, 1L, 2L), List.of(policy.segmentsOf(0), policy.segmentsOf(1), policy.segmentsOf(1000),
                policy.segmentsOf(1001)));
        assertEquals(Long.MAX_VALUE / 1000 + 1, policy.segmentsOf(Long.MAX_VALUE));
    }

    @Test
    void shouldOfferTheDefaultWhereNobodyKnowsTheReply() throws RpcRdmaException {
        assertEquals(RpcRdmaLimits.DEFAULT.maxMessageBytes(), plan(100, List.of(), null).replyChunkBytes());
        assertEquals(16_000, RequestPlan.of(100, List.of(), null, THRESHOLD, new PeerPolicy(1, false, 16, 1000),
                RpcRdmaLimits.DEFAULT)
                .replyChunkBytes(), "what so many segments hold");
        assertEquals(16_000, RequestPlan.of(100, List.of(), null, new InlineThreshold(1024, 1024),
                new PeerPolicy(1, false, 64, 1000),
                RpcRdmaLimits.DEFAULT).replyChunkBytes(), "a quarter of a Send");
        assertFalse(RequestPlan.of(100, List.of(), null, THRESHOLD, PeerPolicy.CONSERVATIVE,
                RpcRdmaLimits.DEFAULT.withDefaultReplyChunkBytes(0)).hasChunks());
    }

    @Test
    void shouldOfferNoMoreThanTheLargestMessage() throws RpcRdmaException {
        int limit = RpcRdmaLimits.DEFAULT.maxMessageBytes();
        assertEquals(limit, plan(100, List.of(), new ReplySpace(Integer.MAX_VALUE)).replyChunkBytes());
        assertEquals(List.of(limit), plan(100, List.of(), new ReplySpace(0, List.of(Integer.MAX_VALUE))).writeChunkBytes());
        assertEquals(limit, plan(100, List.of(), new ReplySpace(Integer.MAX_VALUE, List.of(Integer.MAX_VALUE)))
                .replyChunkBytes());
    }

    @Test
    void shouldTakeOutTheLargestArgument() throws RpcRdmaException {
        List<DataItem> items = List.of(new DataItem(100, 50), new DataItem(200, 1200), new DataItem(1500, 60));
        RequestPlan plan = plan(1600, items, SHORT);
        assertEquals(List.of(new DataItem(200, 1200)), plan.readItems());
        assertFalse(plan.isLong());
    }

    @Test
    void shouldSendLongCallWhereOneReadChunkIsNotEnough() throws RpcRdmaException {
        List<DataItem> items = List.of(new DataItem(100, 600), new DataItem(1000, 700));
        assertTrue(plan(1800, items, SHORT).isLong());
        assertEquals(List.of(), plan(1800, items, SHORT).readItems());

        RequestPlan plan = RequestPlan.of(1800, items, SHORT, THRESHOLD, PeerPolicy.SPECIFICATION, RpcRdmaLimits.DEFAULT);
        assertFalse(plan.isLong());
        assertEquals(items, plan.readItems(), "in ascending order");
    }

    @Test
    void shouldLeaveRoomInTheHeaderForTheSegments() throws RpcRdmaException {
        // 1024 - 28 - 24 = 972 bytes beside one segment.
        List<DataItem> items = List.of(new DataItem(100, 4000));
        assertEquals(1, plan(4000 + 972, items, SHORT).maxSegments());
        assertFalse(plan(4000 + 972, items, SHORT).isLong());
        assertTrue(plan(4000 + 973, items, SHORT).isLong());
        assertEquals(2, plan(4000 + 948, items, SHORT).maxSegments());
        assertEquals(16, plan(4000 + 100, items, SHORT).maxSegments(), "the policy's limit");
        // A Reply chunk of one segment takes 20 bytes more.
        assertTrue(plan(4000 + 953, items, new ReplySpace(5000)).isLong());
        assertFalse(plan(4000 + 952, items, new ReplySpace(5000)).isLong());
    }

    @Test
    void shouldNotMakeAChunkOfNothing() throws RpcRdmaException {
        assertTrue(plan(2000, List.of(new DataItem(100, 0)), SHORT).isLong());
    }

    @Test
    void shouldKeepToWhatTheLinuxServerSurvivesByDefault() throws RpcRdmaException {
        List<DataItem> items = List.of(new DataItem(100, 5000), new DataItem(6000, 5000));
        for (int callBytes : new int[] {11_100, 20_000}) {
            RequestPlan plan = plan(callBytes, items, new ReplySpace(5000, List.of(5000, 0)));
            assertTrue(plan.isLong());
            assertEquals(List.of(), plan.readItems(), "no second Read chunk");
            assertEquals(List.of(), plan.writeChunkBytes(), "no Write list with a Reply chunk");
            assertTrue(plan.replyChunkBytes() >= 10_000);
        }
        assertFalse(plan(100, List.of(), new ReplySpace(996)).hasChunks(), "no Reply chunk without need: it would be used");
        assertTrue(plan(100, List.of(), new ReplySpace(997)).hasChunks(), "or it would send more than a receive takes");
        assertTrue(plan(100, List.of(), new ReplySpace(100, List.of(5000, 0))).writeChunkBytes().stream()
                .allMatch(bytes -> bytes > 0), "no segment of length 0");
    }

    @Test
    void shouldKeepLargeArgumentsOutOfALongCallWherePolicyAllows() throws RpcRdmaException {
        List<DataItem> items = List.of(new DataItem(100, 1024), new DataItem(1200, 1025), new DataItem(3000, 9001));
        RequestPlan plan = specification(20_000, items, PeerPolicy.SPECIFICATION);
        assertTrue(plan.isLong());
        assertEquals(items.subList(1, 3), plan.readItems(), "what no Send could carry, in ascending order");
        assertEquals((1024 - 28) / 24 / 3, plan.maxSegments(), "for each of three chunks");

        plan = specification(20_000, items, new PeerPolicy(2, true, 4, Integer.MAX_VALUE));
        assertEquals(items.subList(2, 3), plan.readItems(), "the Position Zero chunk is one of two");
        assertEquals(4, plan.maxSegments());
        assertEquals(List.of(), specification(20_000, items, new PeerPolicy(1, true, 4, Integer.MAX_VALUE)).readItems());
    }

    @Test
    void shouldReckonWithTheSegmentsThatPolicyDemands() throws RpcRdmaException {
        // 41 segments of a Read chunk fit into 1024 - 28 bytes of header, 10 of a Write chunk of 8 + 160 bytes do so twice.
        PeerPolicy policy = new PeerPolicy(8, true, 64, 500);
        assertEquals(41, specification(20_500, List.of(), policy).maxSegments());
        assertThrows(RpcRdmaException.class, () -> specification(20_501, List.of(), policy));
        List<DataItem> items = List.of(new DataItem(100, 15_000));
        assertEquals(List.of(), specification(20_500, items, policy).readItems(), "two chunks would have 20 segments each");
        RequestPlan plan = RequestPlan.of(100, items, new ReplySpace(60, List.of(5000, 4999)), THRESHOLD, policy,
                RpcRdmaLimits.DEFAULT);
        assertEquals(2 * (8 + 160), plan.offerBytes());
        plan = RequestPlan.of(100, items, new ReplySpace(5000, List.of(5000)), THRESHOLD, policy, RpcRdmaLimits.DEFAULT);
        assertEquals(8 + 160 + 4 + 160, plan.offerBytes());
        assertThrows(RpcRdmaException.class, () -> RequestPlan.of(100, items, new ReplySpace(32_001), THRESHOLD, policy,
                RpcRdmaLimits.DEFAULT), "65 segments");
        assertThrows(RpcRdmaException.class, () -> RequestPlan.of(100, items, new ReplySpace(31_001), THRESHOLD, policy,
                RpcRdmaLimits.DEFAULT), "a reply with 63 segments in its header is no Send of 1024 bytes");
    }

    @Test
    void shouldRefuseHeaderThatCannotBeSent() {
        ReplySpace space = new ReplySpace(10, Collections.nCopies(41, 5000));
        assertThrows(RpcRdmaException.class, () -> RequestPlan.of(2000, List.of(), space, new InlineThreshold(1024, 65536),
                PeerPolicy.CONSERVATIVE, RpcRdmaLimits.DEFAULT));
    }

    private static RequestPlan specification(int callBytes, List<DataItem> items, PeerPolicy policy) throws RpcRdmaException {
        return RequestPlan.of(callBytes, items, SHORT, THRESHOLD, policy, RpcRdmaLimits.DEFAULT);
    }

    private static RequestPlan plan(int callBytes, List<DataItem> items, ReplySpace space) throws RpcRdmaException {
        return RequestPlan.of(callBytes, items, space, THRESHOLD, PeerPolicy.CONSERVATIVE, RpcRdmaLimits.DEFAULT);
    }
}
