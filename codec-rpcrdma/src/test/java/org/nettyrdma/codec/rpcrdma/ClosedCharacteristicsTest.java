package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.nettyrdma.codec.rpcrdma.header.TransportProperty.RECEIVE_BUFFER_SIZE;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.util.concurrent.Future;
import java.nio.channels.ClosedChannelException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaEventLoopGroup;
import org.nettyrdma.codec.rpcrdma.characteristics.Characteristics;
import org.nettyrdma.codec.rpcrdma.characteristics.CharacteristicsHandler;

/** The extension on a connection whose event loop has ended. */
class ClosedCharacteristicsTest {

    @Test
    void shouldFailWhatIsAskedBehindTheEndOfTheEventLoop() throws Exception {
        Characteristics characteristics = Characteristics.builder().build();
        RpcRdma rpcRdma = ShortSends.client().versions(VersionPolicy.PREFER_V2).extensions(characteristics.extensions())
                .extensionHandlers(characteristics::install).build();
        RdmaEventLoopGroup group = new RdmaEventLoopGroup(1);
        Channel channel = rpcRdma.configure(new Bootstrap().group(group).channel(RdmaChannel.class)).register().sync().channel();
        CharacteristicsHandler handler = CharacteristicsHandler.of(channel);
        group.shutdownGracefully(0, 0, TimeUnit.SECONDS).sync();

        for (Future<?> asked : List.of(handler.request(RECEIVE_BUFFER_SIZE, 8192L), handler.offer(RECEIVE_BUFFER_SIZE, 8192L),
                handler.settle(RECEIVE_BUFFER_SIZE, 8192L))) {
            assertInstanceOf(ClosedChannelException.class, asked.cause());
        }
    }
}
