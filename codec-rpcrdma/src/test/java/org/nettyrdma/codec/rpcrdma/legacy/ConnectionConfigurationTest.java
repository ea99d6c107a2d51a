package org.nettyrdma.codec.rpcrdma.legacy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.nettyrdma.codec.rpcrdma.Bytes.digits;
import static org.nettyrdma.codec.rpcrdma.Bytes.hex;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.RpcServerHandler;
import org.nettyrdma.codec.oncrpc.XdrException;
import org.nettyrdma.codec.rpcrdma.BulkProgram;
import org.nettyrdma.codec.rpcrdma.Bytes;
import org.nettyrdma.codec.rpcrdma.RpcRdma;
import org.nettyrdma.codec.rpcrdma.RpcRdmaPair;
import org.nettyrdma.codec.rpcrdma.ShortSends;

/** The Connection Configuration Protocol between our own two ends, and where there is nothing to configure. */
@Timeout(120)
class ConnectionConfigurationTest {

    private static final String NO_AUTH = " 00000000 00000000 00000000 00000000 ";
    /** From behind the XID: a call of the program, 100417, before the procedure. */
    private static final String CONFIGURATION = " 00000000 00000002 00018841 00000001 ";

    @Test
    void shouldAgreeBetweenOurOwnEnds() throws Exception {
        try (RpcRdmaPair pair = new RpcRdmaPair(
                ShortSends.server().program(new BulkProgram(true)).program(new ConnectionConfigurationProgram())
                        .inlineThresholdBytes(8192),
                RpcRdma.client().inlineThresholdBytes(4096))) {
            ByteBuf arguments = pair.channel.alloc().buffer();
            new ConnectionConfiguration.Request(4096, 4096, 16).write(arguments);
            ByteBuf answer = pair.channel.pipeline().get(RpcClient.class).call(new RpcRequest(ConnectionConfiguration.PROGRAM,
                    ConnectionConfiguration.VERSION, ConnectionConfiguration.CONFIGURE, arguments))
                    .get(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS);
            assertEquals(new ConnectionConfiguration.Reply(8192, 4, 16), ConnectionConfiguration.Reply.read(answer));
            answer.release();
            assertEquals(4096, new ConnectionConfigurationClient(pair.channel).configure()
                    .get(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS).sendBytes());
            ByteBuf results = pair.call(BulkProgram.ECHO, RpcRdmaPair.opaque(Bytes.pattern(60000, 1)));
            assertEquals(60004, results.readableBytes());
            results.release();
        }
    }

    @Test
    void shouldHaveNothingToConfigureOnOtherTransports() {
        EmbeddedChannel channel = new EmbeddedChannel(new RpcServerHandler(new ConnectionConfigurationProgram()));
        channel.writeInbound(hex("00000002" + CONFIGURATION + "00000001" + NO_AUTH + "00001000 00001000 00000001"));
        ByteBuf reply = channel.readOutbound();
        assertEquals(digits("00000002 00000001 00000000 00000000 00000000 00000003"), hex(reply));
        reply.release();
        channel.finishAndReleaseAll();
    }

    @Test
    void shouldNeedAClientInThePipeline() {
        assertThrows(IllegalStateException.class, () -> new ConnectionConfigurationClient(new RdmaChannel()).configure());
    }

    @Test
    void shouldReadWhatAServerAnswers() {
        assertEquals(new ConnectionConfiguration.Reply(1024, 512, 8),
                ConnectionConfiguration.Reply.read(Bytes.hex("00000400 00000200 00000008")));
        assertEquals(new ConnectionConfiguration.Reply(0xffffffffL, 512, 8),
                ConnectionConfiguration.Reply.read(Bytes.hex("ffffffff 00000200 00000008")));
    }

    @Test
    void shouldCheckWhatIsToBeSent() {
        assertThrows(XdrException.class, () -> new ConnectionConfiguration.Request(1L << 32, 4096, 0));
        assertThrows(XdrException.class, () -> new ConnectionConfiguration.Request(4096, 4096, -1));
        assertThrows(XdrException.class, () -> new ConnectionConfiguration.Reply(4096, 1L << 32, 0));
        ByteBuf out = Unpooled.buffer();
        new ConnectionConfiguration.Request(0xffffffffL, 1024, 0).write(out);
        assertEquals("ffffffff0000040000000000", hex(out));
    }
}
