package org.nettyrdma.codec.rpcrdma.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.nettyrdma.codec.rpcrdma.RpcRdmaLimits;

class ReceivePlanTest {

    private static final RpcRdmaLimits ASKED = RpcRdmaLimits.DEFAULT.withCredits(64).withInlineThresholdBytes(8192);

    private final ReceivePlan plan = new ReceivePlan(true, ASKED, false, 0, 0, 0);

    @Test
    void shouldSayWhatTheReceivesOfAChannelAreTooFewOrTooSmallFor() {
        assertEquals("credits: 60 instead of 64 (RECEIVE_QUEUE_DEPTH)", plan.shortfall(ASKED.withCredits(60)));
        assertEquals("credits: 1 instead of 64 (RECEIVE_QUEUE_DEPTH), inlineThresholdBytes: 4096 instead of 8192 "
                + "(RECEIVE_BUFFER_SIZE)", plan.shortfall(ASKED.withCredits(1).withInlineThresholdBytes(4096)));
    }

    @Test
    void shouldBeContentWithWhatWasAskedForAndMore() {
        assertEquals("", plan.shortfall(ASKED));
        assertEquals("", plan.shortfall(ASKED.withInlineThresholdBytes(16384)));
    }
}
