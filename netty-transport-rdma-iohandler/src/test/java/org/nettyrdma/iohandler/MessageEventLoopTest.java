package org.nettyrdma.iohandler;

import io.netty.channel.Channel;
import io.netty.channel.ServerChannel;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaServerChannel;

class MessageEventLoopTest extends StreamEventLoopTest {

    @Override
    protected Channel newChannel() {
        return new RdmaChannel();
    }

    @Override
    protected Class<? extends ServerChannel> serverChannelClass() {
        return RdmaServerChannel.class;
    }
}
