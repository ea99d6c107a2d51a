package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.codec.oncrpc.RpcConnectionException;

/** A server that makes the client send a call again, and hangs up: what it sent before is read after the connection has ended. */
@Timeout(60)
class LostWhileSentAgainTest {

    /** In one turn of its event loop after the close of the other end a client sees that; some more do no harm. */
    private static final int TURNS = 10;

    /** The client reads what is there when the end of the connection has been noticed. */
    private static void hangUp(RdmaChannel client, RawPeer server, String lastMessage) throws Exception {
        client.config().setAutoRead(false);
        client.eventLoop().submit(() -> { }).get(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS);
        server.sendHex(lastMessage);
        server.channel().close().sync();
        for (int i = 0; i < TURNS; i++) { // shared receives are not flushed, so that nothing else tells of the end
            client.eventLoop().submit(() -> { }).get(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS);
        }
        client.config().setAutoRead(true);
    }

    private static void requireLost(Future<ByteBuf> call) throws Exception {
        Throwable failure = RpcRdmaPair.failure(call);
        assertInstanceOf(RpcConnectionException.class, failure);
        assertTrue(failure.getMessage().contains("connection lost"), failure.getMessage());
    }

    @Test
    void shouldTellTheLossOfTheConnectionWhereAnErrorAsksForAnotherAttempt() throws Exception {
        try (VersionTwoServer server = new VersionTwoServer(ShortSends.client())) {
            Future<ByteBuf> call = server.raw.start(BulkProgram.LOAD, Unpooled.buffer().writeInt(5000).writeInt(0));
            String xid = server.receive().xid();
            hangUp(server.raw.channel, server.raw.peer, xid + VersionTwoServer.error("00000007 00000001 00001770"));
            requireLost(call);
        }
    }

    @Test
    void shouldTellTheLossOfTheConnectionWhereVersionTwoIsRefused() throws Exception {
        try (RawServer server = new RawServer(
                ShortSends.client().binding(BulkProgram.BINDING).versions(VersionPolicy.PREFER_V2))) {
            Future<ByteBuf> call = server.start(BulkProgram.LOAD, Unpooled.buffer().writeInt(5000).writeInt(0));
            ByteBuf sent = server.peer.receive();
            String xid = ByteBufUtil.hexDump(sent, 0, 4);
            sent.release();
            hangUp(server.channel, server.peer, xid + " 00000002 00000020 00000004 00000001 00000001 00000001");
            requireLost(call);
        }
    }
}
