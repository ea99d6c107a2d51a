package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.concurrent.Future;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.channel.RdmaChannelStatistics;
import org.nettyrdma.channel.RemoteAccess;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.codec.oncrpc.ReplySpace;
import org.nettyrdma.codec.oncrpc.RpcConnectionException;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.VersionTwoServer.Call;

/** Remote invalidation in version 2: {@code rdma_inv_handle} of both sides (version-two-08, section 3.3). */
@Timeout(120)
class NamedHandleWireTest {

    @Nested
    class Requester {

        private VersionTwoServer server;

        private void connect(boolean wanted) throws Exception {
            server = new VersionTwoServer(ShortSends.client().remoteInvalidation(wanted));
        }

        @AfterEach
        void disconnect() {
            server.close();
        }

        /** A long call with a Reply chunk of another size: two handles. */
        private Future<ByteBuf> start(int callBytes, int replyBytes) {
            return server.raw.start(new RpcRequest(BulkProgram.PROGRAM, 1, BulkProgram.ECHO,
                    Unpooled.buffer().writeZero(callBytes - 40)).setDataItems(List.of())
                    .setReplySpace(new ReplySpace(replyBytes)));
        }

        @ParameterizedTest
        @CsvSource({"6000, 5000, true", "6000, 7000, false", "100, 7000, false", "6000, 100, true"})
        void shouldNameTheHandleOfItsLargestRegion(int callBytes, int replyBytes, boolean ofCall) throws Exception {
            connect(true);
            Future<ByteBuf> future = start(callBytes, replyBytes);
            Call call = server.receive();
            int largest = (ofCall ? call.reads() : call.reply()).get(0).steeringTag();
            assertEquals(largest, call.named());
            server.raw.sendInvalidating(largest, call.xid() + VersionTwoServer.plainReply(call.xid()));
            RpcRdmaPair.result(future).release();

            assertCounts(1, 0, call.reads().size() + call.reply().size() - 1);
            server.requireAlive();
        }

        @Test
        void shouldNameNothingWithoutChunks() throws Exception {
            connect(true);
            Future<ByteBuf> future = server.raw.start(BulkProgram.NULL, Unpooled.EMPTY_BUFFER);
            Call call = server.receive();
            assertEquals(0, call.named());
            server.raw.peer.sendHex(call.xid() + VersionTwoServer.plainReply(call.xid()));
            RpcRdmaPair.result(future).release();
            assertCounts(0, 0, 0);
        }

        @ParameterizedTest
        @ValueSource(booleans = {false, true})
        void shouldWithdrawItselfWhatTheReplyDoesNot(boolean wanted) throws Exception {
            connect(wanted);
            Future<ByteBuf> future = start(6000, 7000);
            Call call = server.receive();
            assertEquals(wanted, call.named() != 0);
            server.raw.peer.sendHex(call.xid() + VersionTwoServer.plainReply(call.xid()));
            RpcRdmaPair.result(future).release();

            assertCounts(0, 1, 2);
            assertEquals(2, server.raw.channel.statistics().get(RdmaChannelStatistics.Counter.LOCAL_INVALIDATIONS));
            server.requireAlive();
        }

        @Test
        void shouldEndTheConnectionWhenAnotherHandleOfTheCallIsInvalidated() throws Exception {
            connect(true);
            Future<ByteBuf> future = start(6000, 7000);
            Call call = server.receive();
            server.raw.sendInvalidating(call.reads().get(0).steeringTag(), call.xid() + VersionTwoServer.plainReply(call.xid()));
            assertLost(future);
        }

        @Test
        void shouldEndTheConnectionWhenInvalidatingWhatNoCallHasNamed() throws Exception {
            connect(false);
            Future<ByteBuf> future = start(6000, 100);
            Call call = server.receive();
            server.raw.sendInvalidating(call.reads().get(0).steeringTag(), call.xid() + VersionTwoServer.plainReply(call.xid()));
            assertLost(future);
        }

        private void assertLost(Future<ByteBuf> future) throws Exception {
            assertTrue(server.raw.channel.closeFuture().await(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS));
            assertInstanceOf(RpcConnectionException.class, RpcRdmaPair.failure(future));
        }

        private void assertCounts(int remote, int none, int local) {
            ChunkStatistics statistics = server.raw.client.statistics();
            assertEquals(remote, statistics.get(Counter.REMOTE_INVALIDATIONS));
            assertEquals(none, statistics.get(Counter.REPLIES_WITHOUT_INVALIDATION));
            assertEquals(local, statistics.get(Counter.LOCAL_INVALIDATIONS));
        }
    }

    @Nested
    class Responder {

        private static final String LOAD = RawClient.CALL + "00000003" + RawClient.NO_AUTH;

        private RawClient client;
        private ByteBuf memory;

        private void connect(boolean wanted) throws Exception {
            client = new RawClient(ShortSends.server().program(new BulkProgram(true)).binding(BulkProgram.BINDING)
                    .versions(VersionPolicy.V2_ONLY).remoteInvalidation(wanted));
            memory = client.peer.registered(new byte[30_000]);
            client.peer.sendHex("0000cafe 00000002 00000020 00000000 00000000" + VersionTwoServer.NO_LISTS + "0000cafe"
                    + RawClient.CALL + "00000000" + RawClient.NO_AUTH);
            String properties = client.peer.receiveHex();
            assertTrue(properties.startsWith("00000005", 24), properties);
            client.peer.receiveHex();
        }

        @AfterEach
        void disconnect() {
            memory.release();
            client.close();
        }

        /** A call of LOAD with two Write chunks, of which the program uses the first. */
        private void load(int named, RemoteSegment first, RemoteSegment second, int length) throws Exception {
            client.peer.sendHex("0000002a 00000002 00000020 00000000 00000000" + String.format("%08x", named) + "00000000"
                    + RawClient.chunk(first) + RawClient.chunk(second) + "00000000 00000000 0000002a" + LOAD
                    + String.format("%08x", length) + "00000000");
        }

        private String loaded(RemoteSegment first, RemoteSegment second, int length) {
            return Bytes.digits("0000002a 00000002 00000020 00000000 00000001 00000000 00000000"
                    + RawClient.chunk(first.withLength(length)) + RawClient.chunk(second.withLength(0))
                    + "00000000 00000000 0000002a" + RawClient.SUCCESS + "00000000" + String.format("%08x", length));
        }

        private long taken() {
            return client.peer.channel().statistics().get(RdmaChannelStatistics.Counter.REMOTE_INVALIDATIONS_RECEIVED);
        }

        private long count(Counter counter) {
            return client.server.statistics().get(counter);
        }

        @ParameterizedTest
        @ValueSource(booleans = {false, true})
        void shouldInvalidateExactlyTheNamedHandle(boolean theFirst) throws Exception {
            connect(true);
            var exposed = List.of(client.peer.expose(memory, 0, 6000, RemoteAccess.WRITE),
                    client.peer.expose(memory, 6000, 7000, RemoteAccess.WRITE));
            RemoteSegment first = exposed.get(0).segment();
            RemoteSegment second = exposed.get(1).segment();
            load(theFirst ? first.steeringTag() : second.steeringTag(), first, second, 5000);

            assertEquals(loaded(first, second, 5000), client.peer.receiveHex());
            assertEquals(theFirst, exposed.get(0).isInvalidated());
            assertEquals(!theFirst, exposed.get(1).isInvalidated());
            assertEquals(1, count(Counter.REMOTE_INVALIDATIONS));
        }

        @ParameterizedTest
        @CsvSource({"0, true", "1, false"})
        void shouldInvalidateNothingWhereNothingIsNamedOrItIsNotWanted(int choice, boolean wanted) throws Exception {
            connect(wanted);
            RemoteSegment first = client.writable(memory, 0, 6000);
            RemoteSegment second = client.writable(memory, 6000, 7000);
            load(choice == 0 ? 0 : first.steeringTag(), first, second, 5000);

            assertEquals(loaded(first, second, 5000), client.peer.receiveHex());
            assertEquals(0, taken());
            assertEquals(1, count(Counter.REPLIES_WITHOUT_INVALIDATION));
            assertEquals(0, count(Counter.UNLISTED_HANDLES_IGNORED));
        }

        /** The handle may be one of another call, so nothing is done to it; the call itself can be served. */
        @Test
        void shouldNotInvalidateHandleThatTheCallDoesNotList() throws Exception {
            connect(true);
            RemoteSegment first = client.writable(memory, 0, 6000);
            RemoteSegment second = client.writable(memory, 6000, 7000);
            RemoteSegment ofAnotherCall = client.writable(memory, 13000, 7000);
            load(ofAnotherCall.steeringTag(), first, second, 5000);

            assertEquals(loaded(first, second, 5000), client.peer.receiveHex());
            assertEquals(0, taken());
            assertEquals(1, count(Counter.UNLISTED_HANDLES_IGNORED));
        }

        @Test
        void shouldNotInvalidateWhereNoChunkIsListed() throws Exception {
            connect(true);
            client.peer.sendHex("0000002a 00000002 00000020 00000000 00000000 12345600 00000000 00000000 00000000 0000002a"
                    + RawClient.CALL + "00000000" + RawClient.NO_AUTH);
            assertEquals(Bytes.digits("0000002a" + VersionTwoServer.plainReply("0000002a")), client.peer.receiveHex());
            assertEquals(1, count(Counter.UNLISTED_HANDLES_IGNORED));
        }

        @Test
        void shouldSayWhichWriteChunkIsTooSmallAndInvalidateNothing() throws Exception {
            connect(true);
            RemoteSegment first = client.writable(memory, 0, 6000);
            RemoteSegment second = client.writable(memory, 6000, 7000);
            load(first.steeringTag(), first, second, 8000);

            assertEquals(Bytes.digits("0000002a 00000002 00000020 00000004 00000001 00000007 00000001 00001f40"),
                    client.peer.receiveHex());
            assertEquals(0, taken());
        }

        @Test
        void shouldCountWriteChunksFromOne() throws Exception {
            connect(true);
            RemoteSegment first = client.writable(memory, 0, 6000);
            RemoteSegment second = client.writable(memory, 6000, 7000);
            client.peer.sendHex("0000002a 00000002 00000020 00000000 00000000 00000000 00000000" + RawClient.chunk(first)
                    + RawClient.chunk(second) + "00000000 00000000 0000002a" + RawClient.CALL + "00000004" + RawClient.NO_AUTH
                    + "00001770 00001b59"); // 6000 and 7001 bytes

            assertEquals(Bytes.digits("0000002a 00000002 00000020 00000004 00000001 00000007 00000002 00001b59"),
                    client.peer.receiveHex());
        }

        /** 24 bytes of header, two words and 5000 bytes. */
        @ParameterizedTest
        @ValueSource(booleans = {false, true})
        void shouldSayHowMuchTheReplyNeeds(boolean replyChunk) throws Exception {
            connect(true);
            String offered = replyChunk ? RawClient.chunk(client.writable(memory, 0, 5031)) : "00000000";
            client.peer.sendHex("0000002a 00000002 00000020 00000000 00000000 00000000 00000000 00000000" + offered + "0000002a"
                    + LOAD + "00001388 00000000");

            assertEquals(Bytes.digits("0000002a 00000002 00000020 00000004 00000001 00000008 000013a8"),
                    client.peer.receiveHex());
        }

        /** It can be parsed, so it is no bad XDR; and to send fewer chunks would not help. */
        @Test
        void shouldAnswerACallThatIsTooLongWithSystemError() throws Exception {
            connect(true);
            client.peer.sendHex("0000002a 00000002 00000020 00000000 00000000 00000000 00000001 00000030 00000bad 00110000"
                    + "0000000000000000" + RawClient.NO_CHUNKS + "0000002a" + RawClient.CALL + "00000002" + RawClient.NO_AUTH
                    + "00000001 00110000");

            assertEquals(Bytes.digits("0000002a 00000002 00000020 00000004 00000001 00000009"), client.peer.receiveHex());
        }

        @Test
        void shouldDropAnErrorOfARequester() throws Exception {
            connect(true);
            client.peer.sendHex("0000002a 00000002 00000020 00000004 00000001 00000009");
            client.peer.sendHex("0000002b 00000002 00000020 00000000 00000000" + VersionTwoServer.NO_LISTS + "0000002b"
                    + RawClient.CALL + "00000000" + RawClient.NO_AUTH);
            assertEquals(Bytes.digits("0000002b" + VersionTwoServer.plainReply("0000002b")), client.peer.receiveHex());
            assertEquals(1, count(Counter.STRAY_MESSAGES_DROPPED));
        }
    }
}
