package org.nettyrdma.handler.credit.support;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;

/** A wait in a flight recording, if it was longer than the threshold of the recording. */
@Name("org.nettyrdma.Stall")
@Label("Stall")
@Description("A call that had to wait before it could go on")
@Category({"Netty RDMA", "RPC"})
@Threshold("20 ms")
@StackTrace(false)
final class StallEvent extends Event {

    @Label("Waited For")
    @Description("credit, memory or connection")
    String waitedFor;
    @Label("Peer")
    @Description("Nothing where there is no connection")
    String peer;

    /** Returns {@code null} where nobody records. */
    static StallEvent begun() {
        StallEvent event = new StallEvent();
        if (!event.isEnabled()) {
            return null;
        }
        event.begin();
        return event;
    }
}
