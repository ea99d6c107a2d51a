package org.nettyrdma.codec.oncrpc;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;
import jdk.jfr.Unsigned;

/** A call in a flight recording, if it took longer than the threshold of the recording. */
@Name("org.nettyrdma.RpcCall")
@Label("RPC Call")
@Description("A call that was made or served, from its beginning to its end")
@Category({"Netty RDMA", "RPC"})
@Threshold("20 ms")
@StackTrace(false)
final class RpcCallEvent extends Event {

    /** Never recorded. All events of a class are on or off together, and to ask a new one takes longer than all else. */
    private static final RpcCallEvent ANY = new RpcCallEvent();

    @Label("Side")
    String side;
    @Label("Peer")
    String peer;
    @Label("XID")
    @Unsigned
    int xid;
    @Label("Program")
    @Unsigned
    int program;
    @Label("Version")
    @Unsigned
    int version;
    @Label("Procedure")
    @Unsigned
    int procedure;
    @Label("Outcome")
    String outcome;

    /** Whether a recording is under way that has this event on. */
    static boolean isWanted() {
        return ANY.isEnabled();
    }

    /** Returns {@code null} where nobody records. */
    static RpcCallEvent begun() {
        if (!ANY.isEnabled()) {
            return null;
        }
        RpcCallEvent event = new RpcCallEvent();
        event.begin();
        return event;
    }
}
