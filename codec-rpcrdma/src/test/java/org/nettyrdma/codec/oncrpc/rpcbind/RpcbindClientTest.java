package org.nettyrdma.codec.oncrpc.rpcbind;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledHeapByteBuf;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcConnectionException;
import org.nettyrdma.codec.oncrpc.XdrException;

/** The bytes of RFC 1833, section 2.1, written by hand. */
class RpcbindClientTest {

    private static final String NFS_3 = "000186a3 00000003";
    private static final String NO_STRING = "00000000";
    private static final String RDMA = "00000004 72646d61";
    private static final String RDMA6 = "00000005 72646d61 36000000";
    /** 127.0.0.1.78.81 */
    private static final String LOOPBACK_20049 = "0000000f 3132372e 302e302e 312e3738 2e383100";
    /** ::.78.81 */
    private static final String ANY6_20049 = "00000008 3a3a2e37 382e3831";
    private static final String SUPERUSER = "00000009 73757065 72757365 72000000";

    private final RpcClient rpc = new RpcClient();
    private final EmbeddedChannel channel = new EmbeddedChannel(rpc);

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
    }

    @Test
    void shouldRegister() throws Exception {
        UniversalAddress address = UniversalAddress.of(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 20049));
        RpcbindEntry entry = new RpcbindEntry(100003, 3, Netid.RDMA, address);
        assertEquals(true, exchange(4, 1, NFS_3 + RDMA + LOOPBACK_20049 + NO_STRING, "00000001", client -> client.set(entry)));
        assertEquals(false, exchange(4, 1, NFS_3 + RDMA + LOOPBACK_20049 + NO_STRING, "00000000", client -> client.set(entry)));
    }

    @Test
    void shouldUnregister() throws Exception {
        assertEquals(true, exchange(4, 2, NFS_3 + RDMA6 + NO_STRING + NO_STRING, "00000001",
                client -> client.unset(100003, 3, Netid.RDMA6)));
    }

    @Test
    void shouldAskForAnAddress() throws Exception {
        String arguments = NFS_3 + NO_STRING + NO_STRING + NO_STRING;
        assertEquals(Optional.of(new UniversalAddress(InetAddress.getByName("127.0.0.1"), 20049)),
                exchange(4, 3, arguments, LOOPBACK_20049, client -> client.address(100003, 3)));
        assertEquals(Optional.of("::.78.81"), exchange(4, 9, arguments, ANY6_20049, client -> client.versionAddress(100003, 3))
                .map(UniversalAddress::toString));
        assertEquals(Optional.empty(), exchange(4, 3, arguments, NO_STRING, client -> client.address(100003, 3)));
        assertEquals(Optional.empty(), exchange(4, 9, arguments, NO_STRING, client -> client.versionAddress(100003, 3)));
    }

    @Test
    void shouldList() throws Exception {
        String first = "00000001" + NFS_3 + RDMA + LOOPBACK_20049 + SUPERUSER;
        String second = "00000001" + NFS_3 + RDMA6 + ANY6_20049 + NO_STRING;
        RpcbindEntry rdma6 = new RpcbindEntry(100003, 3, Netid.RDMA6, "::.78.81", "");
        List<RpcbindEntry> entries = exchange(4, 4, "", first + second + "00000000", RpcbindClient::dump);
        assertEquals(List.of(new RpcbindEntry(100003, 3, Netid.RDMA, "127.0.0.1.78.81", "superuser"), rdma6), entries);
        assertEquals(20049, entries.get(0).universalAddress().port());
        assertEquals(List.of(), exchange(4, 4, "", "00000000", RpcbindClient::dump));

        assertEquals(Optional.of(rdma6), exchange(4, 4, "", first + second + "00000000",
                client -> client.find(100003, 3, Netid.RDMA6)));
        assertEquals(Optional.empty(), exchange(4, 4, "", first + second + "00000000",
                client -> client.find(100003, 4, Netid.RDMA6)));
        assertEquals(Optional.empty(), exchange(4, 4, "", first + second + "00000000",
                client -> client.find(100005, 3, Netid.RDMA)));
        assertEquals(Optional.empty(), exchange(4, 4, "", first + second + "00000000",
                client -> client.find(100003, 3, Netid.TCP)));
    }

    @Test
    void shouldListAddressesThatAreNotIp() throws Exception {
        String local = "00000001" + NFS_3 + "00000005 6c6f6361 6c000000" + "00000007 2f72756e 2f782e00" + NO_STRING + "00000000";
        RpcbindEntry entry = exchange(4, 4, "", local, RpcbindClient::dump).get(0);
        assertEquals("/run/x.", entry.address());
        assertThrows(IllegalArgumentException.class, entry::universalAddress);
    }

    @Test
    void shouldAskForTheTime() throws Exception {
        assertEquals(Instant.parse("2106-02-07T06:28:15Z"), exchange(4, 6, "", "ffffffff", RpcbindClient::time));
    }

    @Test
    void shouldSpeakVersion3() throws Exception {
        assertEquals(List.of(), exchange(3, 4, "", "00000000", RpcbindClient::dump));
        RpcbindClient version3 = new RpcbindClient(rpc, 3);
        assertThrows(IllegalStateException.class, () -> version3.versionAddress(100003, 3));
        assertThrows(IllegalArgumentException.class, () -> new RpcbindClient(rpc, 2));
        assertThrows(IllegalArgumentException.class, () -> new RpcbindClient(rpc, 5));
    }

    @Test
    void shouldRefuseMalformedReplies() {
        assertMalformed("RPCBPROC_DUMP entry follows is 2, a boolean is 0 or 1", "00000002", RpcbindClient::dump);
        assertMalformed("RPCBPROC_DUMP entry follows needs 4 bytes, 0 are left",
                "00000001" + NFS_3 + RDMA + LOOPBACK_20049 + SUPERUSER, RpcbindClient::dump);
        assertMalformed("rpcbind entry needs 24 bytes, 20 are left", "00000001" + NFS_3 + RDMA + NO_STRING, RpcbindClient::dump);
        assertMalformed("rpcbind netid is 4294967295 bytes long, limit 128",
                "00000001" + NFS_3 + "ffffffff" + LOOPBACK_20049, RpcbindClient::dump);
        assertMalformed("rpcbind address is 256 bytes long, limit 255",
                "00000001" + NFS_3 + RDMA + "00000100" + "41".repeat(260), RpcbindClient::dump);
        assertMalformed("rpcbind owner needs 8 bytes, 0 are left",
                "00000001" + NFS_3 + RDMA + NO_STRING + "00000007", RpcbindClient::dump);
        assertMalformed("rpcbind netid of 0 characters (expected: 1 to 128 printable ASCII characters without a space)",
                "00000001" + NFS_3 + NO_STRING + NO_STRING + LOOPBACK_20049, RpcbindClient::dump);
        assertMalformed("RPCBPROC_GETADDR result is 54 bytes long, limit 53", "00000036" + "31".repeat(56),
                client -> client.address(1, 1));
        assertMalformed("RPCBPROC_GETADDR result: universal address: 'abcd' (expected: an IPv4 or IPv6 address and the two "
                + "bytes of "
                + "the port, as in 192.0.2.7.78.81)", "00000004 61626364", client -> client.address(1, 1));
        assertMalformed("reply of rpcbind has 4 bytes behind its results", "00000001 00000000",
                client -> client.unset(1, 1, Netid.TCP));
    }

    @Test
    void shouldFailWithTheConnection() {
        CompletableFuture<Instant> time = new RpcbindClient(rpc).time();
        channel.close();
        channel.runPendingTasks();
        assertInstanceOf(RpcConnectionException.class, assertThrows(ExecutionException.class, time::get).getCause());
    }

    @Test
    void shouldFailWhereThereIsNoMemoryForTheResults() {
        CompletableFuture<Instant> time = new RpcbindClient(rpc).time();
        OutOfMemoryError noMemory = new OutOfMemoryError("expected");
        int resultsAt = 24;
        channel.runPendingTasks();
        ByteBuf call = channel.readOutbound();
        ByteBuf reply = new UnpooledHeapByteBuf(UnpooledByteBufAllocator.DEFAULT, 28, 28) {
            @Override
            public int readInt() {
                if (readerIndex() == resultsAt) {
                    throw noMemory;
                }
                return super.readInt();
            }
        };
        channel.writeInbound(reply.writeInt(call.readInt()).writeInt(1).writeInt(0).writeLong(0).writeLong(0));
        call.release();
        assertTrue(time.isDone());
        assertSame(noMemory, assertThrows(ExecutionException.class, time::get).getCause());
        assertEquals(0, reply.refCnt());
    }

    @Test
    void shouldLimitWhatIsRegistered() {
        String tooLong = "x".repeat(256);
        assertThrows(IllegalArgumentException.class, () -> new RpcbindEntry(1, 1, Netid.TCP, tooLong, ""));
        assertThrows(IllegalArgumentException.class, () -> new RpcbindEntry(1, 1, Netid.TCP, "", tooLong));
    }

    private void assertMalformed(String expected, String results, Function<RpcbindClient, CompletableFuture<?>> call) {
        CompletableFuture<?> result = call.apply(new RpcbindClient(rpc));
        answer(results);
        Throwable cause = assertThrows(ExecutionException.class, result::get).getCause();
        assertEquals(expected, assertInstanceOf(XdrException.class, cause).getMessage());
    }

    private <T> T exchange(int version, int procedure, String arguments, String results,
            Function<RpcbindClient, CompletableFuture<T>> call) throws Exception {
        CompletableFuture<T> result = call.apply(new RpcbindClient(rpc, version));
        assertEquals("0000000000000002000186a0" + "0000000" + version + "0000000" + procedure + "0".repeat(32)
                + arguments.replace(" ", ""), answer(results));
        assertTrue(result.isDone());
        return result.get();
    }

    /** Returns what was written, behind its XID. */
    private String answer(String results) {
        channel.runPendingTasks();
        ByteBuf call = channel.readOutbound();
        int xid = call.readInt();
        String written = ByteBufUtil.hexDump(call);
        call.release();
        // XID, REPLY, accepted, an empty verifier, success.
        ByteBuf reply = Unpooled.buffer().writeInt(xid).writeInt(1).writeInt(0).writeLong(0).writeInt(0);
        channel.writeInbound(reply.writeBytes(ByteBufUtil.decodeHexDump(results.replace(" ", ""))));
        return written;
    }
}
