package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nettyrdma.channel.RdmaChannelOption;
import org.nettyrdma.codec.rpcrdma.header.HeaderExtensions;
import org.nettyrdma.codec.rpcrdma.header.HeaderType;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Extension;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaMessage;
import org.nettyrdma.handler.credit.CreditGate;

/** A header type that one side sends without end, on the real channel: the other side's receives are never too few. */
@Timeout(60)
class BoundedMessagesTest {

    private static final int NOTES = 20;

    private static final HeaderType<Integer> NOTE = new HeaderType<>(0x40, "NOTE", TestTypes.NUMBER, false, false);

    private final HeaderExtensions extensions = HeaderExtensions.builder().headerType(NOTE).build();
    private final List<Integer> received = Collections.synchronizedList(new ArrayList<>());

    /** Writes its notes when the version is settled, ahead of the first reply. */
    private static final class Writer extends ChannelInboundHandlerAdapter {

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof ConnectionTerms terms && terms.agreed() && terms.peerProperties().entries().isEmpty()) {
                ctx.pipeline().remove(this);
                for (int i = 0; i < NOTES; i++) {
                    ctx.write(RpcRdmaMessage.extension(new Extension<>(i, 1, 0, NOTE, i), Unpooled.EMPTY_BUFFER));
                }
                ctx.flush();
            }
            ctx.fireUserEventTriggered(event);
        }
    }

    private final class Reader extends ChannelInboundHandlerAdapter {

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            if (msg instanceof RpcRdmaMessage message && message.header() instanceof Extension<?> note) {
                received.add((Integer) note.value());
                message.release();
            } else {
                ctx.fireChannelRead(msg);
            }
        }
    }

    /** A server whose client may have one call in progress: each call shows that the reply before it has arrived. */
    @Test
    void shouldLetAsManyGoAsThePeerHasReceivesForAndTheRestBehindCalls() throws Exception {
        RpcRdmaBuilder server = ShortSends.server().program(new BulkProgram(true)).binding(BulkProgram.BINDING).credits(1)
                .versions(VersionPolicy.V2_ONLY).extensions(extensions)
                .extensionHandlers(pipeline -> pipeline.addLast(new Writer()));
        RpcRdmaBuilder client = ShortSends.client().binding(BulkProgram.BINDING).credits(1).versions(VersionPolicy.V2_ONLY)
                .extensions(extensions).extensionHandlers(pipeline -> pipeline.addLast(new Reader()));
        try (RpcRdmaPair pair = new RpcRdmaPair(server, client)) {
            int depth = pair.channel.config().getOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH);
            assertTrue(depth >= 1 + 1 + 2 * CreditGate.MAX_CONTROLS, "receives: " + depth);
            for (int calls = 1; calls <= NOTES / CreditGate.MAX_CONTROLS + 2; calls++) {
                pair.call(BulkProgram.NULL, Unpooled.EMPTY_BUFFER).release();
                int arrived = Math.min(NOTES, calls * CreditGate.MAX_CONTROLS); // ahead of the reply
                assertEquals(IntStream.range(0, arrived).boxed().toList(), List.copyOf(received));
            }
        }
    }
}
