package org.apache.hadoop.portmap;

import io.netty.channel.ChannelHandler;
import io.netty.channel.group.ChannelGroup;

/** Lets tests create Hadoop's portmapper, which only its own package can; hence the package of this class. */
public final class PortmapAccess {

    private PortmapAccess() {
    }

    /** The handler as {@code Portmap} creates it. */
    public static ChannelHandler newRpcProgramPortmap(ChannelGroup allChannels) {
        return new RpcProgramPortmap(allChannels);
    }
}
