package org.nettyrdma.codec.rpcrdma.responder;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.codec.oncrpc.MemoryBudget;
import org.nettyrdma.codec.rpcrdma.ResourceLimits;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException;
import org.nettyrdma.codec.rpcrdma.RpcRdmaLimits;
import org.nettyrdma.codec.rpcrdma.RpcRdmaPrivateData;
import org.nettyrdma.codec.rpcrdma.VersionPolicy;
import org.nettyrdma.codec.rpcrdma.connection.NegotiatedConnection;
import org.nettyrdma.codec.rpcrdma.header.ChunkLists;
import org.nettyrdma.codec.rpcrdma.header.PropertySet;
import org.nettyrdma.codec.rpcrdma.header.ReadChunk;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Malformed;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Msg;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaMessage;
import org.nettyrdma.codec.rpcrdma.shared.BindingTable;
import org.nettyrdma.codec.rpcrdma.shared.ChunkCounters;
import org.nettyrdma.codec.rpcrdma.shared.ConnectionParts;
import org.nettyrdma.codec.rpcrdma.shared.RpcRdmaFailures;
import org.nettyrdma.handler.credit.CreditedMessage.Role;

/** An answer that no program has given and that cannot be written: its caller would wait in vain, and has lost a credit. */
class LostAnswerTest {

    private final EmbeddedChannel channel = new EmbeddedChannel(
            new ChannelOutboundHandlerAdapter() {
                @Override
                public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
                    ReferenceCountUtil.release(msg);
                    promise.setFailure(new IOException("no registered memory"));
                }
            },
            new ResponderChunkHandler(new ConnectionParts(RpcRdmaLimits.DEFAULT.withMaxMessageBytes(1024),
                    ResourceLimits.DEFAULT, new MemoryBudget(1 << 20), new BindingTable(List.of()), new ChunkCounters(),
                    new NegotiatedConnection(new RdmaChannel(), true, VersionPolicy.V1_ONLY, RpcRdmaPrivateData.NONE, 4096,
                            PropertySet.EMPTY)), null));

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
    }

    private void receive(RpcRdmaHeader header) {
        assertTrue(channel.isOpen());
        channel.pipeline().fireChannelRead(RpcRdmaMessage.of(Role.REQUEST, header,
                Unpooled.directBuffer().writeInt(1).writeZero(40)));
        assertThrows(IOException.class, channel::checkException);
        assertFalse(channel.isOpen());
    }

    @Test
    void shouldEndTheConnectionWhereAMalformedCallCannotBeRefused() {
        RpcRdmaException cause = RpcRdmaFailures.refused("a list without an end");
        receive(new Malformed(1, 1, 1, true, cause));
    }

    @Test
    void shouldEndTheConnectionWhereACallThatIsTooLongCannotBeRefused() {
        ReadChunk chunk = new ReadChunk(44, List.of(new RemoteSegment(7, 4096, 0)));
        receive(new Msg(1, 1, new ChunkLists(List.of(chunk), List.of(), null)));
    }
}
