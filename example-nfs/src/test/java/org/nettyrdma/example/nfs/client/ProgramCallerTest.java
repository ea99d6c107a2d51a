package org.nettyrdma.example.nfs.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.nettyrdma.codec.oncrpc.OpaqueAuth;
import org.nettyrdma.codec.oncrpc.RpcClient;

class ProgramCallerTest {

    /** Who waits for the call would wait for ever. */
    @Test
    void shouldFailACallWhoseReplyFindsNoMemory() {
        RpcClient rpc = new RpcClient();
        EmbeddedChannel channel = new EmbeddedChannel(rpc);
        CompletableFuture<Object> result = new ProgramCaller(rpc::call, 100003, 3, OpaqueAuth.NONE).call(0, Unpooled.EMPTY_BUFFER,
                results -> {
                    throw new OutOfMemoryError("as if");
                });
        channel.flushOutbound();
        ByteBuf call = channel.readOutbound();
        channel.writeInbound(Unpooled.buffer().writeInt(call.getInt(call.readerIndex())).writeInt(1).writeZero(16));
        call.release();
        assertTrue(result.isDone());
        assertEquals("the call failed: java.lang.OutOfMemoryError: as if",
                assertThrows(IOException.class, () -> Await.result(result)).getMessage());
        channel.finishAndReleaseAll();
    }
}
