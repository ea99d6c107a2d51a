package org.nettyrdma.transparency;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import org.dcache.oncrpc4j.portmap.mapping;
import org.dcache.oncrpc4j.portmap.pmaplist;
import org.dcache.oncrpc4j.xdr.XdrAble;
import org.dcache.oncrpc4j.xdr.XdrBoolean;
import org.dcache.oncrpc4j.xdr.XdrInt;
import org.dcache.oncrpc4j.xdr.XdrVoid;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nettyrdma.codec.oncrpc.AcceptStatus;
import org.nettyrdma.codec.oncrpc.RpcAcceptException;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.RpcRdma;

/**
 * A Netty RPC server that knows nothing of RDMA: the portmapper of Hadoop (version 2 of the protocol, RFC 1833, section 3) over
 * our channel, called by our client, and by way of it with the XDR types of oncrpc4j.
 */
@Timeout(120)
class HadoopPortmapTest {

    private static final int PROGRAM = 100000;
    private static final int VERSION = 2;
    private static final int NULL = 0;
    private static final int SET = 1;
    private static final int UNSET = 2;
    private static final int GETPORT = 3;
    private static final int DUMP = 4;
    private static final int TCP = 6;
    private static final int MAPPING_BYTES = 5 * Integer.BYTES;

    private static HadoopPortmapServer server;

    @BeforeAll
    static void start() throws Exception {
        server = new HadoopPortmapServer();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @Test
    void shouldServeAllProcedures() throws Exception {
        try (Client client = new Client(RpcRdma.client(), server.address())) {
            assertEquals(0, resultOf(client, NULL).readableBytes());
            assertEquals(0, resultOf(client, GETPORT, 100003, 3, TCP, 0).readInt(), "not registered yet");
            assertEquals(2049, resultOf(client, SET, 100003, 3, TCP, 2049).readInt(),
                    "it answers with the port and not with TRUE");
            assertEquals(2049, resultOf(client, GETPORT, 100003, 3, TCP, 0).readInt());
            assertTrue(contains(resultOf(client, DUMP), 100003, 3, TCP, 2049));
            assertEquals(1, resultOf(client, UNSET, 100003, 3, TCP, 0).readInt());
            assertEquals(0, resultOf(client, GETPORT, 100003, 3, TCP, 0).readInt());
            assertFalse(contains(resultOf(client, DUMP), 100003, 3, TCP, 2049));
            assertTrue(client.channel.isActive());
        }
    }

    @Test
    void shouldAnswerAnUnknownProcedure() throws Exception {
        try (Client client = new Client(RpcRdma.client(), server.address())) {
            Throwable cause = assertThrows(ExecutionException.class, () -> resultOf(client, 99)).getCause();
            assertEquals(AcceptStatus.PROC_UNAVAIL, assertInstanceOf(RpcAcceptException.class, cause).status());
        }
    }

    @Test
    void shouldReturnALongListInAReplyChunk() throws Exception {
        int registrations = 1000;
        try (Client client = new Client(RpcRdma.client().inlineThresholdBytes(4096), server.address())) {
            long longReplies = server.rpcRdma.statistics().get(Counter.LONG_REPLIES);
            for (int i = 0; i < registrations; i++) {
                assertEquals(1 + i, resultOf(client, SET, 0x20000000 + i, 1, TCP, 1 + i).readInt());
            }
            assertEquals(longReplies, server.rpcRdma.statistics().get(Counter.LONG_REPLIES));

            ByteBuf list = resultOf(client, DUMP);

            assertEquals(longReplies + 1, server.rpcRdma.statistics().get(Counter.LONG_REPLIES));
            assertTrue(client.rpcRdma.statistics().get(Counter.REPLY_CHUNK_BYTES) > registrations * MAPPING_BYTES);
            Set<Integer> ports = new HashSet<>();
            while (list.readInt() == 1) {
                if (list.readInt() >= 0x20000000) {
                    list.skipBytes(2 * Integer.BYTES);
                    ports.add(list.readInt());
                } else {
                    list.skipBytes(3 * Integer.BYTES);
                }
            }
            assertEquals(registrations, ports.size());
            assertEquals(0, list.readableBytes());
            for (int i = 0; i < registrations; i++) {
                resultOf(client, UNSET, 0x20000000 + i, 1, TCP, 0);
            }
        }
    }

    @Test
    void shouldTakeTheTypesOfOncRpc4j() throws Exception {
        try (Client client = new Client(RpcRdma.client(), server.address())) {
            mapping mountd = new mapping(100005, 3, TCP, 20048);
            result(client, NULL, XdrVoid.XDR_VOID, XdrVoid.XDR_VOID);
            assertTrue(result(client, SET, mountd, new XdrBoolean()).booleanValue());
            mapping question = new mapping(100005, 3, TCP, 0);
            assertEquals(20048, result(client, GETPORT, question, new XdrInt()).intValue());
            assertTrue(find(result(client, DUMP, XdrVoid.XDR_VOID, new pmaplist()), mountd));
            assertTrue(result(client, UNSET, question, new XdrBoolean()).booleanValue());
            assertFalse(find(result(client, DUMP, XdrVoid.XDR_VOID, new pmaplist()), mountd));
        }
    }

    private static <T extends XdrAble> T result(Client client, int procedure, XdrAble arguments, T results) throws Exception {
        ByteBuf encoded = ByteBufEncodingStream.encode(client.channel.alloc(), arguments);
        return ByteBufDecodingStream.decode(client.call(new RpcRequest(PROGRAM, VERSION, procedure, encoded)), results);
    }

    private static boolean find(pmaplist list, mapping wanted) {
        for (pmaplist entry = list; entry.getEntry() != null; entry = entry.getNext()) {
            if (entry.getEntry().toString().equals(wanted.toString())) {
                return true;
            }
        }
        return false;
    }

    /** A copy of the results, which needs no release. */
    private static ByteBuf resultOf(Client client, int procedure, int... arguments) throws Exception {
        ByteBuf results = client.call(new RpcRequest(PROGRAM, VERSION, procedure, Unpooled.copyInt(arguments)));
        ByteBuf copy = Unpooled.copiedBuffer(results);
        results.release();
        return copy;
    }

    private static boolean contains(ByteBuf list, int... mapping) {
        while (list.readInt() == 1) {
            if (list.readSlice(mapping.length * Integer.BYTES).equals(Unpooled.copyInt(mapping))) {
                return true;
            }
        }
        return false;
    }
}
