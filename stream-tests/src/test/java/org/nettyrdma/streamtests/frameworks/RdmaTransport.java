package org.nettyrdma.streamtests.frameworks;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.socket.DatagramChannel;
import io.netty.channel.socket.InternetProtocolFamily;
import io.vertx.core.spi.transport.Transport;
import java.util.concurrent.ThreadFactory;
import org.nettyrdma.channel.RdmaEventLoopGroup;
import org.nettyrdma.channel.RdmaServerStreamChannel;
import org.nettyrdma.channel.RdmaStreamChannel;

@SuppressWarnings("deprecation") // InternetProtocolFamily, in Netty 4.2 only
public final class RdmaTransport implements Transport {

    @Override
    public EventLoopGroup eventLoopGroup(int type, int threads, ThreadFactory factory, int ioRatio) {
        return new RdmaEventLoopGroup(threads, factory);
    }

    @Override
    public ChannelFactory<? extends Channel> channelFactory(boolean domainSocket) {
        return RdmaStreamChannel::new;
    }

    @Override
    public ChannelFactory<? extends ServerChannel> serverChannelFactory(boolean domainSocket) {
        return RdmaServerStreamChannel::new;
    }

    @Override
    public DatagramChannel datagramChannel() {
        throw new UnsupportedOperationException("datagrams over RDMA");
    }

    @Override
    public DatagramChannel datagramChannel(InternetProtocolFamily family) {
        return datagramChannel();
    }
}
