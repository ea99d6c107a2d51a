package org.nettyrdma.codec.rpcrdma.requester;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.channel.RdmaSend;
import org.nettyrdma.channel.RemoteAccess;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.codec.oncrpc.RpcConnectionException;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.rpcrdma.BulkProgram;
import org.nettyrdma.codec.rpcrdma.Bytes;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.RawClient;
import org.nettyrdma.codec.rpcrdma.RawServer;
import org.nettyrdma.codec.rpcrdma.RpcRdma;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException.Reason;
import org.nettyrdma.codec.rpcrdma.RpcRdmaPair;
import org.nettyrdma.codec.rpcrdma.ServerMessages;
import org.nettyrdma.codec.rpcrdma.VersionPolicy;
import org.nettyrdma.codec.rpcrdma.VersionTwoServer;
import org.nettyrdma.codec.rpcrdma.format.HeaderDigits;
import org.nettyrdma.codec.rpcrdma.format.VersionTwoLayout;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaError;
import org.nettyrdma.codec.rpcrdma.requester.RequesterChunkHandlerPropertyTest.Event;
import org.nettyrdma.codec.rpcrdma.requester.RequesterChunkHandlerPropertyTest.Kind;
import org.nettyrdma.codec.rpcrdma.requester.RequesterChunkHandlerPropertyTest.Setting;
import org.nettyrdma.codec.rpcrdma.requester.RequesterModelCall.Procedure;
import org.nettyrdma.handler.credit.CreditGate;
import org.nettyrdma.handler.credit.CreditStatistics.Requests;

/**
 * A client, a server that is written by hand, and what the client has to do about each thing that the server does, in plain
 * integers and lists; see {@link RequesterChunkHandlerPropertyTest}.
 */
public final class RequesterModel {

    static final int CREDITS = 6;
    static final int REVERSE_CREDITS = 4;
    public static final int MAX_MESSAGE_BYTES = 100_000;
    private static final int INLINE_BYTES = 4096;
    static final int FIRST_MESSAGE_BYTES = 1024;
    /** Receive Buffer Sizes that the server tells: two of them are too small for some calls, or for all. */
    private static final int[] SIZES = {16, 100, 1024, 2000, 4096, 16384, -1, 4096};

    private final RawServer server;
    private final Setting setting;
    private final List<RequesterModelCall> calls = new ArrayList<>();
    /** Until the version is settled. */
    private final List<RequesterModelCall> held = new ArrayList<>();
    private final List<RequesterModelCall> waiting = new ArrayList<>();
    private final List<RequesterModelCall> inProgress = new ArrayList<>();
    private HeaderDigits version;
    private boolean settled;
    /** The server speaks none of the client's versions. */
    private boolean refused;
    private boolean announced;
    /** A valid reply has come, to whatever call. */
    private boolean replied;
    private boolean lost;
    private int sendBytes;
    private ResponderLimits limits = ResponderLimits.UNKNOWN;
    private long granted = 1;
    private long unmatched;
    private int reverseGrant = 1;
    private int nextReverseXid = 0x7000_0000;

    RequesterModel(RawServer server, Setting setting) {
        this.server = server;
        this.setting = setting;
        settled = setting.versions() == VersionPolicy.V1_ONLY;
        announced = settled;
        version = settled ? HeaderDigits.ONE : HeaderDigits.TWO;
        sendBytes = settled ? INLINE_BYTES : FIRST_MESSAGE_BYTES;
    }

    void happen(Event event) throws Exception {
        if (lost) {
            return;
        }
        switch (event.kind()) {
            case CALL -> call(Procedure.NULL);
            case LOAD -> call(Procedure.LOAD);
            case LOAD_TWO -> call(Procedure.LOAD_TWO);
            case STORE -> call(Procedure.STORE);
            case CANCEL -> cancel(event.which());
            default -> serverDoes(event);
        }
        if (!lost) {
            settle();
        }
    }

    private void serverDoes(Event event) throws Exception {
        switch (event.kind()) {
            case REPLY_TO_NOTHING -> replyToNothing(0xffff_ff00, event);
            case ERROR_TO_NOTHING -> errorToNothing(event);
            case PROPERTIES -> properties(event);
            case UNKNOWN_TYPE -> unknownType(event);
            case REVERSE_CALL -> reverseCall(event);
            default -> {
                if (!inProgress.isEmpty()) {
                    answer(inProgress.remove(event.which() % inProgress.size()), event);
                }
            }
        }
    }

    private void call(Procedure procedure) throws Exception {
        RequesterModelCall call = new RequesterModelCall(0x100 + calls.size(), procedure);
        calls.add(call);
        call.started(server.start(new RpcRequest(BulkProgram.PROGRAM, 1, procedure.number,
                call.arguments(server.channel.alloc())).setXid(call.xid)));
        if (settled || !refused && inProgress.isEmpty() && waiting.isEmpty()) {
            plan(call);
        } else if (refused) {
            requireNotWritten(call, Reason.REFUSED);
        } else {
            held.add(call);
        }
    }

    /** The client plans a call that may be sent now. */
    private void plan(RequesterModelCall call) throws Exception {
        if (sendBytes < call.leastBytes(version, limits)) {
            requireNotWritten(call, Reason.TOO_LARGE);
            return;
        }
        call.plannedBytes = sendBytes;
        call.plannedWithin = limits;
        waiting.add(call);
    }

    private static void requireNotWritten(RequesterModelCall call, Reason reason) throws Exception {
        if (!call.isCancelled()) {
            Throwable failure = assertInstanceOf(RpcConnectionException.class, RpcRdmaPair.failure(call.future));
            assertEquals(reason, assertInstanceOf(RpcRdmaException.class, failure.getCause()).reason());
        }
    }

    private void cancel(int which) throws Exception {
        if (!calls.isEmpty()) {
            RequesterModelCall call = calls.get(which % calls.size());
            if (call.future.cancel(false)) {
                held.remove(call);
                waiting.remove(call);
            }
            inEventLoop(() -> null);
        }
    }

    private <T> T inEventLoop(Callable<T> task) throws Exception {
        return server.channel.eventLoop().submit(task).get(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS);
    }

    private void answer(RequesterModelCall call, Event event) throws Exception {
        switch (event.kind()) {
            case REFUSE -> refuse(call, event);
            case REPLY_BADLY -> {
                String reply = ServerMessages.badReply(version, call.xid, event, setting.reverse());
                if (version == HeaderDigits.ONE || !ServerMessages.isError(reply)) { // of RDMA2_ERROR they count for nothing
                    grantOfABadReply(event);
                }
                server.peer.sendHex(reply);
                requireFailure(call, Reason.MALFORMED);
                firstEnded();
            }
            case REPLY_IN_OTHER_VERSION -> {
                grantOfABadReply(event);
                server.peer.sendHex(ServerMessages.inOtherVersion(version, call.xid, event));
                requireFailure(call, Reason.VERSION);
                firstEnded();
            }
            case INVALIDATE_WRONGLY -> invalidateWrongly(call, event);
            default -> {
                grant(event);
                reply(call, event);
                answered();
                if (event.kind() == Kind.REPLY_TWICE) {
                    replyToNothing(call.xid, event);
                }
            }
        }
    }

    private void grant(Event event) {
        granted = Math.max(1, Math.min(Integer.toUnsignedLong(event.grant()), CREDITS));
    }

    /** Until a valid reply has come, a client of version 2 keeps to one call at a time (version-two-08, section 7). */
    private void grantOfABadReply(Event event) {
        if (version == HeaderDigits.ONE || replied) {
            grant(event);
        }
    }

    /** Whether the client has taken back the memory of a call, so that the server may not use it any more. */
    private boolean isWithdrawn(RequesterModelCall call) {
        return call.isCancelled() && !setting.patient() && call.hasChunks();
    }

    private void reply(RequesterModelCall call, Event event) throws Exception {
        boolean touch = !isWithdrawn(call);
        if (touch) {
            call.requireReadable(server.peer);
        }
        String reply = call.reply(server.peer, version, event.grant(), ServerMessages.responseFlags(event), event.detail(),
                event.which(), touch);
        long handle = touch && event.detail() % 3 == 0 ? handleOf(call) : -1;
        server.peer.send(handle < 0 ? Bytes.hex(reply) : new RdmaSend(Bytes.hex(reply), (int) handle));
        if (!call.isCancelled()) {
            call.requireResult(event.which());
        }
    }

    /** The handle that the reply may withdraw, -1 if none. */
    private long handleOf(RequesterModelCall call) {
        if (version == HeaderDigits.TWO) {
            return call.sent.named() == 0 ? -1 : Integer.toUnsignedLong(call.sent.named());
        }
        List<RemoteSegment> all = new ArrayList<>(call.sent.reads());
        call.sent.writes().forEach(all::addAll);
        all.addAll(call.sent.reply());
        return all.size() == 1 ? Integer.toUnsignedLong(all.get(0).steeringTag()) : -1;
    }

    /** A good reply has come, or another message that only a server of the version sends: it settles the version. */
    private void answered() throws Exception {
        replied = true;
        if (!announced) {
            announced = true;
            HeaderDigits.requireSame(HeaderDigits.properties(CREDITS, 0, 1, INLINE_BYTES, 2, setting.reverse() ? 2 : 0),
                    server.peer.receiveHex());
        }
        settled(settled ? sendBytes : INLINE_BYTES);
    }

    private void settled(int bytes) throws Exception {
        sendBytes = bytes;
        settled = true;
        for (RequesterModelCall call : held) {
            plan(call);
        }
        held.clear();
    }

    /** The call that was to find the version out has not: the next one has to. */
    private void firstEnded() throws Exception {
        if (!settled && !held.isEmpty()) {
            plan(held.remove(0));
        }
    }

    private static void requireFailure(RequesterModelCall call, Reason reason) throws Exception {
        if (!call.isCancelled()) {
            assertEquals(reason, RawServer.failure(call.future).reason());
        }
    }

    private void refuse(RequesterModelCall call, Event event) throws Exception {
        int code = event.detail() % 11;
        if (code <= 1) {
            refuseVersion(call, event, code);
        } else if (version == HeaderDigits.ONE) {
            grant(event);
            server.peer.sendHex(version.error(call.xid, event.grant(), 0, 2));
            requireFailure(call, Reason.REFUSED);
        } else {
            refuseWith(call, event, ServerMessages.errorOf(code, event));
        }
    }

    private void refuseVersion(RequesterModelCall call, Event event, int layout) throws Exception {
        int[] range = event.which() % 3 == 0 ? new int[] {3, 4} : new int[] {1, 1};
        server.peer.sendHex(layout == 0 ? HeaderDigits.versionError(call.xid, version.version(), event.grant(), range[0],
                range[1])
                : version.error(call.xid, event.grant(), ServerMessages.responseFlags(event), 1, range[0], range[1]));
        if (!settled && setting.versions() == VersionPolicy.PREFER_V2 && range[0] == 1) {
            version = HeaderDigits.ONE;
            announced = true;
            if (!call.isCancelled()) {
                held.add(0, call);
            }
            settled(INLINE_BYTES);
            return;
        }
        requireFailure(call, Reason.REFUSED);
        if (!settled) {
            refused = true;
            for (RequesterModelCall other : held) {
                requireNotWritten(other, Reason.REFUSED);
            }
            held.clear();
        }
    }

    /** An error of version 2, whose credits count for nothing; it settles the version, as only who knows it can send it. */
    private void refuseWith(RequesterModelCall call, Event event, RpcRdmaError error) throws Exception {
        ChunkStatistics counters = server.client.statistics();
        long errors = counters.get(Counter.CHUNK_ERRORS);
        long again = counters.get(Counter.CALLS_SENT_AGAIN);
        server.peer.sendHex(version.error(call.xid, event.grant(), ServerMessages.responseFlags(event),
                ServerMessages.words(error)));
        settled(settled ? sendBytes : INLINE_BYTES);
        if (isWithdrawn(call)) {
            return;
        }
        requireSoon(errors + 1, () -> counters.get(Counter.CHUNK_ERRORS), "errors received");
        long more = inEventLoop(() -> counters.get(Counter.CALLS_SENT_AGAIN)) - again;
        boolean may = call.refusal == null && !call.isCancelled();
        Boolean expected = may ? call.remedy(error, sendBytes, limits) : Boolean.FALSE;
        if (expected != null) {
            assertEquals(expected ? 1 : 0, more, () -> call.procedure + " behind " + error);
        }
        if (may) {
            limits = limits.learn(error);
        }
        call.refusal = error;
        if (more == 0) {
            requireFailure(call, Reason.REFUSED);
        } else {
            call.plannedBytes = sendBytes;
            call.plannedWithin = limits;
            waiting.add(call);
        }
    }

    /** Takes memory of another call, or of none: the end of the connection. */
    private void invalidateWrongly(RequesterModelCall call, Event event) throws Exception {
        RequesterModelCall other = inProgress.stream().filter(one -> one.hasChunks() && !isWithdrawn(one)).findFirst()
                .orElse(null);
        int handle = other == null ? 0x0bad : other.sent.writes().isEmpty()
                ? (other.sent.reads().isEmpty() ? other.sent.reply() : other.sent.reads()).get(0).steeringTag()
                : other.sent.writes().get(0).get(0).steeringTag();
        String reply = call.reply(server.peer, version, event.grant(), ServerMessages.responseFlags(event), 0, 0, false);
        inProgress.add(call);
        endedBy(new RdmaSend(Bytes.hex(reply), handle));
    }

    /** A message after which the client wants no more of this server. */
    private void endedBy(Object message) throws Exception {
        server.peer.channel().writeAndFlush(message); // may be cut off by what it leads to
        assertFalse(server.channel.closeFuture().await().channel().isOpen());
        lost = true;
        open().forEach(RequesterModel::requireLost);
    }

    /** Neither the grant nor anything else in such a reply counts, but that the server speaks the version. */
    private void replyToNothing(int xid, Event event) throws Exception {
        unmatched++;
        server.peer.sendHex(version.message(xid, event.grant(), HeaderDigits.MSG, ServerMessages.responseFlags(event),
                event.detail(),
                HeaderDigits.NO_CHUNKS + HeaderDigits.words(xid) + RawServer.SUCCESS));
        answered();
    }

    private void errorToNothing(Event event) throws Exception {
        unmatched++;
        server.peer.sendHex(version.error(0xffff_ff00, event.grant(), ServerMessages.responseFlags(event), 2));
        if (version == HeaderDigits.TWO) {
            settled(settled ? sendBytes : INLINE_BYTES);
        }
    }

    /** Several, of which the last one holds; one that cannot be parsed is none. */
    private void properties(Event event) throws Exception {
        if (version == HeaderDigits.ONE) {
            return;
        }
        if (event.detail() % 7 == 0) {
            answersOne(HeaderDigits.words(9, 2, event.grant(), 5, ServerMessages.flags(event), 1, 1, 2, 0), 2);
            return;
        }
        int size = 0;
        for (int i = 0; i <= event.which() % 3; i++) {
            size = SIZES[(event.which() + i) % SIZES.length];
            String properties = HeaderDigits.properties(event.grant(), ServerMessages.flags(event), 77, i, 1, size, 2,
                    event.detail() % 3);
            if (Integer.toUnsignedLong(size) < VersionTwoLayout.LEAST_CONVEYING_LENGTH) {
                endedBy(Bytes.hex(properties));
                return;
            }
            server.peer.sendHex(properties);
            settled((int) Math.min(INLINE_BYTES, Integer.toUnsignedLong(size))); // by the first of them
        }
        unknownType(event); // which is counted when all of these are in force, as the size may have been the last one before, too
        assertEquals(sendBytes, RpcRdma.connection(server.channel).terms().sendBytes(), "largest Send");
    }

    /** A request of the server, so that the client answers it. */
    private void unknownType(Event event) throws Exception {
        if (version == HeaderDigits.TWO) {
            int type = ServerMessages.UNKNOWN_TYPES[event.detail() % ServerMessages.UNKNOWN_TYPES.length];
            answersOne(HeaderDigits.words(9, 2, event.grant(), type, ServerMessages.flags(event), 1, 2, 3, 4), 3);
        }
    }

    /** Outside of all calls. */
    private void answersOne(String message, int error) throws Exception {
        long before = server.client.statistics().get(Counter.MALFORMED_MESSAGES);
        server.peer.sendHex(message);
        requireReverseReply(version.error(9, reverseGrant, HeaderDigits.RESPONSE, error));
        assertEquals(before + 1, server.client.statistics().get(Counter.MALFORMED_MESSAGES));
    }

    /** The client answers at once; in version 2 with chunks either way. */
    private void reverseCall(Event event) throws Exception {
        int xid = nextReverseXid++;
        String call = HeaderDigits.words(xid) + RawClient.CALL + "00000000" + RawClient.NO_AUTH;
        String plain = version.message(xid, event.grant(), HeaderDigits.MSG, ServerMessages.flags(event), event.detail(),
                HeaderDigits.NO_CHUNKS + call);
        if (!setting.reverse()) {
            server.peer.sendHex(plain);
            requireReverseReply(version == HeaderDigits.ONE ? version.error(xid, 1, 0, 2)
                    : version.error(xid, 1, HeaderDigits.RESPONSE, 9));
            return;
        }
        reverseGrant = (int) Math.max(1, Math.min(Integer.toUnsignedLong(event.grant()), REVERSE_CREDITS));
        String chunk = "";
        boolean bad = false;
        ByteBuf memory = server.peer.registered(ByteBufUtil.getBytes(Bytes.hex(call)));
        try {
            int length = memory.readableBytes();
            switch (version == HeaderDigits.ONE ? 0 : event.which() % 4) {
                case 0 -> server.peer.sendHex(plain);
                case 1 -> {
                    RemoteSegment source = server.peer.expose(memory, 0, length, RemoteAccess.READ).segment();
                    server.peer.sendHex(version.message(xid, event.grant(), HeaderDigits.NOMSG, ServerMessages.flags(event), 0,
                            RawClient.entry(0, source) + HeaderDigits.NO_CHUNKS));
                }
                case 2 -> {
                    RemoteSegment sink = server.peer.expose(memory, 0, length, RemoteAccess.WRITE).segment();
                    chunk = RawClient.chunk(sink.withLength(0));
                    server.peer.sendHex(version.message(xid, event.grant(), HeaderDigits.MSG, ServerMessages.flags(event),
                            sink.steeringTag(), "00000000 00000000" + RawClient.chunk(sink) + call));
                }
                default -> {
                    bad = true;
                    server.peer.sendHex(version.message(xid, event.grant(), HeaderDigits.NOMSG, ServerMessages.flags(event), 0,
                            "00000002"));
                }
            }
            if (!bad) {
                settled(settled ? sendBytes : INLINE_BYTES);
            }
            // or it takes 16 bytes at most, and gets nothing but errors
            boolean fits = version.chunkFreeLength() + 24 <= sendBytes;
            String expected = bad || !fits ? version.error(xid, reverseGrant, HeaderDigits.RESPONSE, bad ? 2 : 9)
                    : version.message(xid, reverseGrant, HeaderDigits.MSG, HeaderDigits.RESPONSE, 0,
                    (chunk.isEmpty() ? HeaderDigits.NO_CHUNKS : "00000000 00000000" + chunk) + HeaderDigits.words(xid)
                            + RawServer.SUCCESS);
            requireReverseReply(expected);
        } finally {
            memory.release();
        }
    }

    /** Calls that the message has let go may come ahead of its answer. */
    private void requireReverseReply(String expected) throws Exception {
        String received = server.peer.receiveHex();
        while (received.startsWith("000001") && !waiting.isEmpty()) {
            received(Bytes.hex(received));
            received = server.peer.receiveHex();
        }
        HeaderDigits.requireSame(expected, received);
    }

    /** The server receives what the model lets go, and then both agree on the numbers. */
    private void settle() throws Exception {
        while (!waiting.isEmpty() && inProgress.size() < granted) {
            received(server.peer.receive());
        }
        List<Long> expected = List.of((long) inProgress.size(), (long) waiting.size(), granted, unmatched);
        requireSoon(expected, this::counted, "in progress, waiting, granted, unmatched");
    }

    private void received(ByteBuf sent) {
        RequesterModelCall call = waiting.remove(0);
        int length = sent.readableBytes();
        call.received(VersionTwoServer.Call.parse(sent, version), length, version);
        sent.release();
        inProgress.add(call);
    }

    /** What the client does about a message it does after the server knows that the message was sent. */
    private static void requireSoon(Object expected, Callable<?> actual, String what) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(RpcRdmaPair.TIMEOUT_SECONDS);
        while (!expected.equals(actual.call()) && System.nanoTime() < deadline) {
            Thread.onSpinWait();
        }
        assertEquals(expected, actual.call(), what);
    }

    private List<Long> counted() throws Exception {
        CreditGate gate = server.channel.pipeline().get(CreditGate.class);
        Requests requests = inEventLoop(() -> gate.statistics().requests());
        return List.of((long) requests.inProgress(), (long) requests.waiting(), (long) requests.granted(),
                requests.unmatchedResponses());
    }

    private List<RequesterModelCall> open() {
        List<RequesterModelCall> open = new ArrayList<>(inProgress);
        open.addAll(waiting);
        open.addAll(held);
        return open;
    }

    private static void requireLost(RequesterModelCall call) {
        if (!call.isCancelled()) {
            try {
                assertInstanceOf(RpcConnectionException.class, RpcRdmaPair.failure(call.future));
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }
    }

    /** The server goes away; what it has not answered ends with the connection. */
    void end() throws Exception {
        server.peer.close();
        open().forEach(RequesterModel::requireLost);
        assertFalse(server.channel.closeFuture().await().channel().isOpen());
        inEventLoop(() -> null);
        calls.forEach(call -> assertEquals(1, call.completions.get()));
        requireSoon(0L, () -> RpcRdmaPair.usedBytes(server.client), "bytes of memory in use");
    }
}
