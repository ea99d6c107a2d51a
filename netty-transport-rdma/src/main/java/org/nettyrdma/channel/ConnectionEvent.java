package org.nettyrdma.channel;

import io.netty.channel.Channel;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** A connection in a flight recording, from when it stood to its close. */
@Name("org.nettyrdma.Connection")
@Label("RDMA Connection")
@Description("A connection, from when it stood to its close")
@Category("Netty RDMA")
@StackTrace(false)
final class ConnectionEvent extends Event {

    @Label("Provider")
    String provider;
    @Label("Local Address")
    String local;
    @Label("Remote Address")
    String remote;
    @Label("Cause of the End")
    @Description("What has failed at this end; nothing for an end in order")
    String cause;

    /** The channel has become active; returns {@code null} where nobody records. */
    static ConnectionEvent begun(Channel channel, String provider) {
        ConnectionEvent event = new ConnectionEvent();
        if (!event.isEnabled()) {
            return null;
        }
        event.begin();
        event.provider = provider;
        event.local = String.valueOf(channel.localAddress());
        event.remote = String.valueOf(channel.remoteAddress());
        return event;
    }
}
