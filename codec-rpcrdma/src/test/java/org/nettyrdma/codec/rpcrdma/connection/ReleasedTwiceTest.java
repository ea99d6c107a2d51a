package org.nettyrdma.codec.rpcrdma.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.AbstractReferenceCounted;
import org.junit.jupiter.api.Test;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.handler.credit.CreditGate;
import org.nettyrdma.handler.credit.CreditedMessage;

class ReleasedTwiceTest {

    @Test
    void shouldCountWhatAConnectionHasCountedOnce() {
        CreditGate gate = new CreditGate(16, 4, 8);
        EmbeddedChannel credits = new EmbeddedChannel(gate);
        credits.writeInbound(new UnmatchedResponse());
        OpenConnections connections = new OpenConnections();
        RdmaChannel channel = new RdmaChannel();
        connections.add(channel, gate);
        assertEquals(1, connections.creditCounter(of -> of.requests().unmatchedResponses()));
        for (int told = 1; told <= 2; told++) {
            connections.released(channel, 0);
            assertEquals(1, connections.creditCounter(of -> of.requests().unmatchedResponses()));
        }
        credits.finishAndReleaseAll();
    }

    private static final class UnmatchedResponse extends AbstractReferenceCounted implements CreditedMessage {

        @Override
        public Role role() {
            return Role.RESPONSE;
        }

        @Override
        public int xid() {
            return 1;
        }

        @Override
        public long credits() {
            return 1;
        }

        @Override
        public CreditedMessage withCredits(int credits) {
            return this;
        }

        @Override
        public UnmatchedResponse touch(Object hint) {
            return this;
        }

        @Override
        protected void deallocate() {
            // It has nothing.
        }
    }
}
