package org.nettyrdma.codec.rpcrdma.responder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.util.concurrent.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.channel.ExposedMemory;
import org.nettyrdma.channel.RemoteAccess;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.codec.rpcrdma.BulkProgram;
import org.nettyrdma.codec.rpcrdma.Bytes;
import org.nettyrdma.codec.rpcrdma.RawClient;
import org.nettyrdma.codec.rpcrdma.RawServer;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException.Reason;
import org.nettyrdma.codec.rpcrdma.RpcRdmaPair;
import org.nettyrdma.codec.rpcrdma.format.HeaderDigits;
import org.nettyrdma.codec.rpcrdma.responder.ResponderChunkHandlerPropertyTest.Event;
import org.nettyrdma.codec.rpcrdma.responder.ResponderChunkHandlerPropertyTest.Kind;

/**
 * A server, a client that is written by hand, and what the server has to answer to each thing that the client sends, in plain
 * integers and lists; see {@link ResponderChunkHandlerPropertyTest}.
 */
final class ResponderModel {

    static final int CREDITS = 6;
    static final int REVERSE_CREDITS = 4;
    private static final int INLINE_BYTES = 4096;
    private static final int CHUNK_BYTES = 6200;
    private static final int CALL_BYTES = 40;
    private static final int SUCCESS_BYTES = 24;
    private static final int[] RESULT_BYTES = {8, 4000, 6000};
    private static final int[] ITEM_BYTES = {0, 3000, 6001, 6400};
    /** Receive Buffer Sizes that the client tells; in 64 bytes only chunks take it. */
    private static final int[] SIZES = {64, 1024, 4096, 16384, -1};
    private static final int UNLISTED_HANDLE = 0x0bad;
    private static final String HANG = RawClient.CALL + "00000005" + RawClient.NO_AUTH;

    /** A call that the program has not answered; what it did not offer is {@code null}. */
    private record Served(int xid, RpcCall call, int named, Offer write, Offer reply, Offer read) {

        int headerBytes(HeaderDigits version) {
            return version.chunkFreeLength() + (write == null ? 0 : 24) + (reply == null ? 0 : 20);
        }
    }

    private record Offer(ByteBuf memory, ExposedMemory exposed) {

        RemoteSegment segment() {
            return exposed.segment();
        }
    }

    private final RawClient client;
    private final BulkProgram program;
    private final HeaderDigits version;
    private final boolean reverse;
    private final List<Served> served = new ArrayList<>();
    private final List<ByteBuf> memory = new ArrayList<>();
    private boolean announced;
    private int sendBytes = INLINE_BYTES;
    private int support = 1; // INLINE, until the client tells
    private int nextXid = 1;
    private int granted = 1; // by the last answer
    private int lastGrant = 1;
    private int sent; // calls
    private int maySend = 1; // calls, by the rule of CreditGate: what has come back, and the larger of the last two grants
    private long asked;

    ResponderModel(RawClient client, BulkProgram program, HeaderDigits version, boolean reverse) {
        this.client = client;
        this.program = program;
        this.version = version;
        this.reverse = reverse;
        announced = version == HeaderDigits.ONE;
    }

    void happen(Event event) throws Exception {
        switch (event.kind()) {
            case ANSWER -> {
                if (!served.isEmpty()) {
                    answer(served.remove(event.which() % served.size()), event.detail());
                }
            }
            case PROPERTIES -> properties(event);
            case UNKNOWN_TYPE -> {
                int type = new int[] {2, 3, 6, 100, -1}[event.which() % 5];
                client.peer.sendHex(HeaderDigits.words(9, 2, event.asked(), type, flags(event))
                        + "0000beef".repeat(event.detail() % 3));
                expect(HeaderDigits.TWO.error(9, granted, HeaderDigits.RESPONSE, 3));
            }
            case CLIENT_ERROR -> client.peer.sendHex(HeaderDigits.TWO.error(nextXid, 32, flags(event), 9)); // has no answer
            case REVERSE_CALL -> {
                if (reverse && announced && !served.isEmpty()) {
                    reverseCall(served.get(0).call.channel().pipeline().get(RpcClient.class), event);
                }
            }
            default -> {
                if (sent < maySend) {
                    asked = Integer.toUnsignedLong(event.asked());
                    call(event, nextXid++);
                }
            }
        }
    }

    /** Reserved flags are not for the receiver to mind (version-two-08, section 3.2). */
    private static int flags(Event event) {
        return event.detail() % 4 == 0 ? event.detail() & ~HeaderDigits.RESPONSE : 0;
    }

    private void call(Event event, int xid) throws Exception {
        sent++;
        String call = HeaderDigits.words(xid) + HANG;
        switch (event.kind()) {
            case MALFORMED_CALL -> malformedCall(event, xid, call);
            case TOO_MANY_CHUNKS -> tooManyChunks(event, xid, call);
            case OTHER_VERSION -> {
                boolean other = version == HeaderDigits.TWO && announced && event.which() % 2 == 0;
                client.peer.sendHex(HeaderDigits.words(xid, other ? 1 : 7, event.asked(), 0) + HeaderDigits.NO_CHUNKS + call);
                expect(HeaderDigits.versionError(xid, other ? 1 : 7, grant(false), other ? 2 : 1, version.version()));
            }
            default -> goodCall(event, xid, call);
        }
    }

    private void goodCall(Event event, int xid, String call) throws Exception {
        Offer read = event.kind() == Kind.LONG_CALL
                ? offer(ByteBufUtil.getBytes(Bytes.hex(call)), CALL_BYTES, RemoteAccess.READ) : null;
        Offer write = event.kind() == Kind.CALL_WITH_WRITE_CHUNK ? offer(new byte[CHUNK_BYTES], CHUNK_BYTES, RemoteAccess.WRITE)
                : null;
        boolean both = event.kind() != Kind.CALL && event.which() % 3 == 0;
        Offer reply = both || event.kind() == Kind.CALL_WITH_REPLY_CHUNK
                ? offer(new byte[CHUNK_BYTES], CHUNK_BYTES, RemoteAccess.WRITE) : null;
        Offer any = write != null ? write : reply != null ? reply : read;
        int named = event.detail() % 3 == 0 ? 0 : event.detail() % 3 == 1 || any == null ? UNLISTED_HANDLE
                : any.segment().steeringTag();
        String lists = (read == null ? "" : RawClient.entry(0, read.segment())) + "00000000"
                + (write == null ? "" : RawClient.chunk(write.segment())) + "00000000"
                + (reply == null ? "00000000" : RawClient.chunk(reply.segment()));
        client.peer.sendHex(version.message(xid, asked, read == null ? HeaderDigits.MSG : HeaderDigits.NOMSG, flags(event), named,
                lists + (read == null ? call : "")));
        announced();
        RpcCall arrived = program.hanging.poll(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS);
        assertTrue(arrived != null, "the call " + xid + " was not delivered");
        arrived.arguments().release();
        served.add(new Served(xid, arrived, named, write, reply, read));
    }

    private Offer offer(byte[] bytes, int length, RemoteAccess access) throws Exception {
        ByteBuf buffer = client.peer.registered(bytes);
        memory.add(buffer);
        return new Offer(buffer, client.peer.expose(buffer, 0, length, access));
    }

    /** Ahead of all that the server answers to the first message of version 2. */
    private void announced() throws Exception {
        if (!announced) {
            announced = true;
            expect(HeaderDigits.properties(reverse ? REVERSE_CREDITS : 1, 0, 1, INLINE_BYTES, 2, reverse ? 2 : 0));
        }
    }

    private void malformedCall(Event event, int xid, String call) throws Exception {
        int flags = flags(event);
        int way = event.which() % (version == HeaderDigits.ONE ? 3 : 5);
        client.peer.sendHex(switch (way) {
            case 0 -> version.message(xid, asked, HeaderDigits.MSG, flags, 0, "00000002 00000000 00000000");
            case 1 -> version.message(xid, asked, HeaderDigits.MSG, flags, 0, HeaderDigits.NO_CHUNKS + HeaderDigits.words(~xid)
                    + HANG);
            case 2 -> version.message(xid, asked, HeaderDigits.NOMSG, flags, 0, HeaderDigits.NO_CHUNKS);
            case 3 -> version.message(xid, asked, HeaderDigits.MSG, flags, 0,
                    HeaderDigits.NO_CHUNKS + HeaderDigits.words(xid) + RawClient.SUCCESS); // not what its flags say
            default -> HeaderDigits.words(xid, 2, event.asked(), HeaderDigits.MSG, flags);
        });
        if (way == 2) {
            announced(); // the header is a good one, but there is no message
        }
        expect(error(xid, 2));
    }

    private void tooManyChunks(Event event, int xid, String call) throws Exception {
        String segment = "00000bad 00000010 00000000 00000000";
        int way = event.which() % 3;
        String lists = switch (way) {
            case 0 -> {
                StringBuilder reads = new StringBuilder();
                for (int i = 1; i <= 9; i++) {
                    reads.append("00000001").append(HeaderDigits.words(100 * i)).append(segment);
                }
                yield reads + HeaderDigits.NO_CHUNKS;
            }
            case 1 -> "00000000" + ("00000001 00000001" + segment).repeat(9) + "00000000 00000000";
            default -> "00000000 00000001 00000041" + segment.repeat(65) + "00000000 00000000";
        };
        client.peer.sendHex(version.message(xid, asked, HeaderDigits.MSG, flags(event), 0, lists + call));
        expect(error(xid, 4 + way, way == 2 ? 64 : 8));
    }

    /** In version 1 there is one error for all of them. */
    private String error(int xid, int... codeAndBody) {
        return version == HeaderDigits.ONE ? version.error(xid, grant(true), 0, 2)
                : version.error(xid, grant(false), HeaderDigits.RESPONSE, codeAndBody);
    }

    private void answer(Served one, int how) throws Exception {
        int itemBytes = ITEM_BYTES[how % ITEM_BYTES.length];
        ByteBuf results = one.call.alloc().buffer();
        List<DataItem> items = List.of();
        if (itemBytes == 0) {
            results.writeBytes(Bytes.pattern(RESULT_BYTES[how % RESULT_BYTES.length], one.xid));
        } else {
            Xdr.writeOpaque(results, Bytes.pattern(itemBytes, one.xid));
            items = List.of(new DataItem(4, itemBytes));
        }
        byte[] whole = ByteBufUtil.getBytes(Unpooled.wrappedBuffer(Bytes.hex(HeaderDigits.words(one.xid) + RawClient.SUCCESS),
                results.duplicate()));
        one.call.reply(results, items);

        boolean placed = one.write != null && itemBytes > 0;
        if (placed && itemBytes > CHUNK_BYTES) {
            expect(error(one.xid, 7, 1, itemBytes));
            requireInvalidated(one, false);
            return;
        }
        ByteBuf rest = Unpooled.buffer().writeBytes(whole, 0, placed ? SUCCESS_BYTES + 4 : whole.length);
        if (one.headerBytes(version) + rest.readableBytes() <= sendBytes) {
            expect(reply(one, HeaderDigits.MSG, placed ? itemBytes : 0, 0) + Bytes.hex(rest));
        } else if (one.headerBytes(version) > sendBytes) {
            expect(error(one.xid, 9));
            requireInvalidated(one, false);
            return;
        } else if (one.reply == null || rest.readableBytes() > CHUNK_BYTES) {
            expect(error(one.xid, 8, rest.readableBytes()));
            requireInvalidated(one, false);
            return;
        } else {
            expect(reply(one, HeaderDigits.NOMSG, placed ? itemBytes : 0, rest.readableBytes()));
            requireWritten(ByteBufUtil.getBytes(rest), one.reply);
        }
        if (placed) {
            requireWritten(Bytes.pattern(itemBytes, one.xid), one.write);
        }
        requireInvalidated(one, true);
    }

    private String reply(Served one, int type, int writeBytes, int replyBytes) {
        return version.message(one.xid, grant(true), type, HeaderDigits.RESPONSE, 0, "00000000"
                + (one.write == null ? "" : RawClient.chunk(one.write.segment().withLength(writeBytes))) + "00000000"
                + (one.reply == null ? "00000000" : RawClient.chunk(one.reply.segment().withLength(replyBytes))));
    }

    private static void requireWritten(byte[] expected, Offer into) {
        assertEquals(ByteBufUtil.hexDump(expected), ByteBufUtil.hexDump(ByteBufUtil.getBytes(into.memory, 0, expected.length)),
                "written ahead of its message");
    }

    /** A good reply withdraws the handle that was named, or in version 1 the only one, and no other. */
    private void requireInvalidated(Served one, boolean byReply) throws Exception {
        List<Offer> offers = new ArrayList<>();
        for (Offer offer : new Offer[] {one.read, one.write, one.reply}) {
            if (offer != null) {
                offers.add(offer);
            }
        }
        for (Offer offer : offers) {
            boolean meant = version == HeaderDigits.ONE ? offers.size() == 1 : offer.segment().steeringTag() == one.named;
            assertEquals(byReply && meant, client.peer.channel().eventLoop().submit(offer.exposed::isInvalidated)
                    .get(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS), "whether the reply has withdrawn the handle");
        }
    }

    /** Several, of which the last one holds; one that cannot be parsed is answered, outside of the credits. */
    private void properties(Event event) throws Exception {
        if (event.detail() % 5 == 0) {
            client.peer.sendHex(HeaderDigits.words(9, 2, event.asked(), 5, flags(event), 1, 1, 2, 0));
            expect(HeaderDigits.TWO.error(9, granted, HeaderDigits.RESPONSE, 2));
            return;
        }
        for (int i = 0; i <= event.which() % 3; i++) {
            int size = SIZES[(event.which() + i) % SIZES.length];
            support = event.detail() % 3;
            client.peer.sendHex(HeaderDigits.properties(event.asked(), flags(event), 77, i, 1, size, 2, support));
            announced();
            sendBytes = (int) Math.min(INLINE_BYTES, Integer.toUnsignedLong(size));
        }
        // Behind it, so that the server knows it when its program answers next.
        client.peer.sendHex(HeaderDigits.words(8, 2, 1, 6, 0));
        expect(HeaderDigits.TWO.error(8, granted, HeaderDigits.RESPONSE, 3));
    }

    /** The server calls the client: within what that has told, and each of these calls ends once, too. */
    private void reverseCall(RpcClient caller, Event event) throws Exception {
        int length = event.which() % 2 == 0 ? 8 : 5000;
        Future<ByteBuf> call = caller.call(new RpcRequest(BulkProgram.PROGRAM, 1, BulkProgram.ECHO,
                RpcRdmaPair.opaque(new byte[length])));
        int inline = version.chunkFreeLength() + CALL_BYTES + 4 + length;
        boolean isLong = inline > sendBytes;
        int least = version.chunkFreeLength() + 24 + (length > INLINE_BYTES ? 20 : 0);
        if (support == 0) {
            requireUnsent(call, Reason.UNSUPPORTED);
        } else if (isLong && (support == 1 || least > sendBytes)) {
            requireUnsent(call, Reason.TOO_LARGE);
        } else {
            String sent = client.peer.receiveHex();
            assertEquals(HeaderDigits.words(2, REVERSE_CREDITS, isLong ? 1 : 0, 0), sent.substring(8, 40));
            assertTrue(sent.length() <= 2 * sendBytes);
            answerReverse(call, Integer.parseUnsignedInt(sent.substring(0, 8), 16), event);
        }
    }

    private static void requireUnsent(Future<ByteBuf> call, Reason reason) throws Exception {
        assertEquals(reason, assertInstanceOf(RpcRdmaException.class, RpcRdmaPair.failure(call).getCause()).reason());
    }

    private void answerReverse(Future<ByteBuf> call, int xid, Event event) throws Exception {
        int flags = flags(event) | HeaderDigits.RESPONSE;
        switch (event.detail() % 3) {
            case 0 -> {
                client.peer.sendHex(version.error(xid, event.asked(), flags, 9));
                assertEquals(Reason.REFUSED, RawServer.failure(call).reason());
            }
            case 1 -> {
                client.peer.sendHex(version.message(xid, event.asked(), HeaderDigits.MSG, flags, 0, "00000002"));
                assertEquals(Reason.MALFORMED, RawServer.failure(call).reason());
            }
            default -> {
                client.peer.sendHex(version.message(xid, event.asked(), HeaderDigits.MSG, flags, event.which(),
                        HeaderDigits.NO_CHUNKS + HeaderDigits.words(xid) + RawClient.SUCCESS + "00000000"));
                RpcRdmaPair.result(call).release();
            }
        }
    }

    /**
     * What the answer that is sent now has to grant.
     *
     * @param counts whether the client may look at it; at that of an error of version 2 it may not, so the grant before holds on
     */
    private int grant(boolean counts) {
        int grant = (int) Math.max(1, Math.min(asked, CREDITS));
        granted = grant;
        maySend = Math.max(maySend, sent - served.size() + Math.max(lastGrant, grant));
        lastGrant = counts ? grant : Math.max(lastGrant, grant);
        return grant;
    }

    private void expect(String digits) throws Exception {
        HeaderDigits.requireSame(digits, client.peer.receiveHex());
    }

    /** Uses the grant up, and then sends another call; the connection ends, and nobody sees that call. */
    void exceed() throws Exception {
        while (sent < maySend) {
            asked = 1;
            call(new Event(Kind.CALL, 0, 1, 0), nextXid++);
        }
        client.peer.channel().writeAndFlush(Bytes.hex(version.message(0xbeef, 1, HeaderDigits.MSG, 0, 0,
                HeaderDigits.NO_CHUNKS + HeaderDigits.words(0xbeef) + HANG)));
        client.peer.awaitClose();
        assertEquals(0, program.hanging.size(), "nothing is delivered beyond the grant");
    }

    /** The client goes away; answers that come then go nowhere, and take nothing with them. */
    void end() {
        client.peer.close();
        for (Served one : served) {
            one.call.reply(one.call.alloc().buffer(8).writeLong(1));
        }
        memory.forEach(ByteBuf::release);
    }
}
