package org.nettyrdma.codec.rpcrdma.requester;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;

/** Memory in a flight recording that stayed open to the peer for longer than the threshold after its call had ended. */
@Name("org.nettyrdma.LateWithdrawal")
@Label("Late Withdrawal of Memory")
@Description("From when a reply was there, or nobody waited for it any more, until the peer could not touch the memory any more")
@Category({"Netty RDMA", "RPC"})
@Threshold("20 ms")
@StackTrace(false)
final class LateWithdrawalEvent extends Event {

    @Label("Peer")
    String peer;
    @Label("Bytes")
    @DataAmount
    long bytes;
    @Label("Given Up")
    @Description("Whether the caller had given up: then memory may stay open until the reply; else the device was slow")
    boolean givenUp;

    /** Returns {@code null} where nobody records. */
    static LateWithdrawalEvent begun(boolean givenUp) {
        LateWithdrawalEvent event = new LateWithdrawalEvent();
        if (!event.isEnabled()) {
            return null;
        }
        event.givenUp = givenUp;
        event.begin();
        return event;
    }
}
