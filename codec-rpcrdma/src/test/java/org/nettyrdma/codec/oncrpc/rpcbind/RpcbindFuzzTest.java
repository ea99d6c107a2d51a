package org.nettyrdma.codec.oncrpc.rpcbind;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.netty.buffer.ByteBuf;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.nettyrdma.codec.oncrpc.AcceptStatus;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcMessage;
import org.nettyrdma.codec.oncrpc.RpcReplyHeader;
import org.nettyrdma.codec.oncrpc.XdrException;
import org.nettyrdma.testing.CountingAllocator;

/** Any bytes as the results of every procedure of rpcbind: each call is completed, with a value or an {@link XdrException}. */
class RpcbindFuzzTest {

    private final CountingAllocator memory = new CountingAllocator();

    @FuzzTest(maxDuration = "2s")
    void shouldCompleteEveryCall(byte[] results) {
        EmbeddedChannel channel = new EmbeddedChannel();
        channel.config().setAllocator(memory.allocator());
        RpcClient rpc = new RpcClient();
        channel.pipeline().addLast(rpc);
        RpcbindClient client = new RpcbindClient(rpc);
        for (CompletableFuture<?> call : List.of(client.dump(), client.address(1, 1), client.versionAddress(1, 1),
                client.unset(1, 1, new Netid("rdma")), client.time())) {
            channel.runPendingTasks();
            channel.flushOutbound();
            channel.writeInbound(reply(channel.readOutbound(), results));
            assertTrue(call.isDone());
            try {
                call.join();
            } catch (CompletionException e) {
                assertInstanceOf(XdrException.class, e.getCause());
            }
        }
        channel.finishAndReleaseAll();
        memory.requireNothingLeft();
    }

    private ByteBuf reply(Object call, byte[] results) {
        ByteBuf sent = call instanceof RpcMessage message ? message.content() : (ByteBuf) call;
        int xid = sent.getInt(sent.readerIndex());
        sent.release();
        ByteBuf reply = memory.allocator().buffer();
        new RpcReplyHeader.Accepted(xid, AcceptStatus.SUCCESS).write(reply);
        return reply.writeBytes(results);
    }
}
