package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.FixedRecvByteBufAllocator;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class StreamCreditTest extends StreamFixture {

    /** Behind the answer it would leave by itself, and wake the peer once more. */
    @Test
    void shouldReturnRoomTogetherWithTheAnswer() throws Exception {
        RdmaServerStreamChannel server = listen(serverBootstrap()
                .childOption(ChannelOption.RCVBUF_ALLOCATOR, new FixedRecvByteBufAllocator(4096))
                .childHandler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelRead(ChannelHandlerContext ctx, Object message) {
                        ctx.writeAndFlush(message);
                    }
                }));
        try (RawStreamPeer peer = RawStreamPeer.connect(server.localAddress())) {
            peer.expect("18000080");
            peer.write(peer.ringTag, 0, bytes(4096, 4)).send("00100000");
            peer.expect("19000080");
            assertEquals("00200000", RawStreamPeer.hex(peer.list).substring(24, 32)); // the new entry came before
            peer.expect("00100000");
            assertArrayEquals(bytes(4096, 4), Arrays.copyOf(peer.ring, 4096));
        }
    }
}
