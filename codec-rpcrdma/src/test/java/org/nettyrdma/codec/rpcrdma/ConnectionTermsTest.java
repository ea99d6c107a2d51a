package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.codec.rpcrdma.Bytes.hex;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.codec.rpcrdma.connection.NegotiatedConnection;
import org.nettyrdma.codec.rpcrdma.header.ChunkLists;
import org.nettyrdma.codec.rpcrdma.header.PropertySet;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaVersion;
import org.nettyrdma.codec.rpcrdma.shared.InlineThreshold;

class ConnectionTermsTest {

    /** What the Linux client sends. */
    private static final String LINUX_CLIENT = "f6ab0e18 01 01 03 03";

    /** What the Linux server answers. */
    private static final String LINUX_SERVER = "f6ab0e18 01 00 03 03";

    @Test
    void shouldReadWhatLinuxSends() {
        assertEquals(new RpcRdmaPrivateData(true, 4096, 4096), RpcRdmaPrivateData.parse(hex(LINUX_CLIENT)));
        assertEquals(new RpcRdmaPrivateData(false, 4096, 4096), RpcRdmaPrivateData.parse(hex(LINUX_SERVER)));
        assertEquals(new RpcRdmaPrivateData(true, 1024, 262144), RpcRdmaPrivateData.parse(hex("f6ab0e18 01 ff 00 ff")));
        assertEquals(new RpcRdmaPrivateData(true, 4096, 4096), RpcRdmaPrivateData.parse(hex(LINUX_CLIENT + "0102")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "f6", "f6ab0e18", "f6ab0e18 01 01 03", "f6ab0e19 01 01 03 03", "f6ab0e18 02 01 03 03"})
    void shouldTakeOtherPrivateDataForNone(String digits) {
        assertSame(RpcRdmaPrivateData.NONE, RpcRdmaPrivateData.parse(hex(digits)));
    }

    @ParameterizedTest
    @CsvSource({"true,4096,4096,f6ab0e1801010303", "false,1024,65536,f6ab0e180100003f", "true,262144,2048,f6ab0e180101ff01"})
    void shouldWriteWhatItSays(boolean invalidation, int sendBytes, int receiveBytes, String digits) {
        ByteBuf out = new RpcRdmaPrivateData(invalidation, sendBytes, receiveBytes).toByteBuf();
        assertEquals(digits, hex(out));
        out.release();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1023, 1025, 4095, 262145, 263168, -1024})
    void shouldRefuseSizesThatCannotBeWritten(int bytes) {
        assertThrows(IllegalArgumentException.class, () -> new RpcRdmaPrivateData(true, bytes, 4096));
        assertThrows(IllegalArgumentException.class, () -> new RpcRdmaPrivateData(true, 4096, bytes));
    }

    @Test
    void shouldUseTheSmallerThresholdInEachDirection() {
        InlineThreshold threshold = InlineThreshold.of(NegotiatedConnection.termsOf(
                new RpcRdmaPrivateData(true, 8192, 4096), new RpcRdmaPrivateData(true, 65536, 2048)));
        assertEquals(new InlineThreshold(2048, 4096), threshold);

        assertEquals(new InlineThreshold(1024, 1024), InlineThreshold.of(NegotiatedConnection.termsOf(
                new RpcRdmaPrivateData(true, 8192, 4096), RpcRdmaPrivateData.NONE)));
    }

    @Test
    void shouldCountTheHeaderIntoTheThreshold() {
        InlineThreshold threshold = new InlineThreshold(1024, 2048);
        assertTrue(threshold.fitsSend(ChunkLists.EMPTY, 996));
        assertFalse(threshold.fitsSend(ChunkLists.EMPTY, 997));
        assertTrue(threshold.fitsReceive(28, 2020));
        assertFalse(threshold.fitsReceive(28, 2021));
    }

    @Test
    void shouldInvalidateRemotelyOnlyIfBothSidesSaySo() {
        RpcRdmaPrivateData yes = RpcRdmaPrivateData.parse(hex(LINUX_CLIENT));
        RpcRdmaPrivateData no = RpcRdmaPrivateData.parse(hex(LINUX_SERVER));
        assertTrue(NegotiatedConnection.termsOf(yes, yes).mayInvalidate());
        assertFalse(NegotiatedConnection.termsOf(yes, no).mayInvalidate());
        assertFalse(NegotiatedConnection.termsOf(no, yes).mayInvalidate());
        assertFalse(NegotiatedConnection.termsOf(yes, RpcRdmaPrivateData.NONE).mayInvalidate());
    }

    @Test
    void shouldLetTheLinuxServerInvalidateWhatItWasToldItMay() {
        RpcRdmaPrivateData yes = RpcRdmaPrivateData.parse(hex(LINUX_CLIENT));
        RpcRdmaPrivateData no = RpcRdmaPrivateData.parse(hex(LINUX_SERVER));
        assertTrue(NegotiatedConnection.termsOf(yes, no).mayBeInvalidated());
        assertFalse(NegotiatedConnection.termsOf(no, no).mayBeInvalidated());
        assertFalse(NegotiatedConnection.termsOf(no, yes).mayBeInvalidated());
    }

    @Test
    void shouldTellTheHandlersOfTheApplicationOnBothSides() throws Exception {
        BlockingQueue<ConnectionTerms> told = new LinkedBlockingQueue<>();
        RpcRdmaBuilder server = RpcRdma.server().inlineThresholdBytes(8192)
                .handlers(pipeline -> pipeline.addLast(listener(told)));
        RpcRdmaBuilder client = RpcRdma.client().inlineThresholdBytes(2048)
                .handlers(pipeline -> pipeline.addLast(listener(told)));
        try (RpcRdmaPair pair = new RpcRdmaPair(server, client)) {
            assertTrue(pair.channel.isActive());
            ConnectionTerms expected = new ConnectionTerms(RpcRdmaVersion.ONE, 2048, 2048, true, true, true,
                    PropertySet.EMPTY);
            assertEquals(expected, told.poll(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS));
            assertEquals(expected, told.poll(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS));
        }
    }

    private static ChannelHandler listener(BlockingQueue<ConnectionTerms> told) {
        return new ChannelInboundHandlerAdapter() {
            @Override
            public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
                if (event instanceof ConnectionTerms terms) {
                    told.add(terms);
                }
            }
        };
    }
}
