package org.nettyrdma.codec.oncrpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.nettyrdma.codec.oncrpc.Hex.dump;
import static org.nettyrdma.codec.oncrpc.Hex.hex;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.concurrent.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What Debian's rpcbind 1.2.6 accepted over TCP, and the bytes that it answered. */
class RpcbindTest {

    private static final String NULL_CALL =
            "80000028 00000001 00000000 00000002 000186a0 00000002 00000000 00000000 00000000 00000000 00000000";
    private static final String NULL_REPLY = "80000018 00000001 00000001 00000000 00000000 00000000 00000000";
    private static final String GETPORT_CALL =
            "80000038 00000001 00000000 00000002 000186a0 00000002 00000003 00000000 00000000 00000000 00000000"
            + " 000186a0 00000002 00000006 00000000";
    private static final String GETPORT_REPLY =
            "8000001c 00000001 00000001 00000000 00000000 00000000 00000000 0000006f";
    private static final String DUMP_REPLY =
            "80000094 00000001 00000001 00000000 00000000 00000000 00000000"
            + "00000001 000186a0 00000004 00000006 0000006f 00000001 000186a0 00000003 00000006 0000006f"
            + "00000001 000186a0 00000002 00000006 0000006f 00000001 000186a0 00000004 00000011 0000006f"
            + "00000001 000186a0 00000003 00000011 0000006f 00000001 000186a0 00000002 00000011 0000006f 00000000";
    private static final String WRONG_VERSION_REPLY =
            "80000020 00000001 00000001 00000000 00000000 00000000 00000002 00000002 00000004";
    private static final String WRONG_PROGRAM_REPLY = "80000018 00000001 00000001 00000000 00000000 00000000 00000001";
    private static final String WRONG_PROCEDURE_REPLY = "80000018 00000001 00000001 00000000 00000000 00000000 00000003";
    private static final String GARBAGE_REPLY = "80000018 00000001 00000001 00000000 00000000 00000000 00000004";
    private static final String BAD_CREDENTIAL_REPLY = "80000014 00000001 00000001 00000001 00000001 00000001";

    @Test
    void shouldCallAsRpcbindUnderstands() {
        assertEquals("", call(new RpcRequest(100000, 2, 0), NULL_CALL, NULL_REPLY));
        assertEquals("0000006f", call(new RpcRequest(100000, 2, 3, hex("000186a0 00000002 00000006 00000000")),
                GETPORT_CALL, GETPORT_REPLY));
    }

    @Test
    void shouldUnderstandWhatRpcbindAnswers() {
        assertEquals(31, call(new RpcRequest(100000, 2, 4), null, DUMP_REPLY).split(" ").length);
        assertEquals("PROG_MISMATCH, the server has versions 2 to 4", failure(WRONG_VERSION_REPLY));
        assertEquals("PROG_UNAVAIL", failure(WRONG_PROGRAM_REPLY));
        assertEquals("PROC_UNAVAIL", failure(WRONG_PROCEDURE_REPLY));
        assertEquals("GARBAGE_ARGS", failure(GARBAGE_REPLY));
        assertEquals("AUTH_ERROR AUTH_BADCRED", failure(BAD_CREDENTIAL_REPLY));
    }

    @Test
    void shouldAnswerAsRpcbindDoes() {
        assertEquals(NULL_REPLY, answer(NULL_CALL));
        assertEquals(GETPORT_REPLY, answer(GETPORT_CALL));
        assertEquals(WRONG_VERSION_REPLY, answer(NULL_CALL.replace("000186a0 00000002", "000186a0 00000009")));
        assertEquals(WRONG_PROGRAM_REPLY, answer(NULL_CALL.replace("000186a0 00000002", "000186a3 00000003")));
        assertEquals(WRONG_PROCEDURE_REPLY,
                answer(NULL_CALL.replace("000186a0 00000002 00000000", "000186a0 00000002 00000063")));
        assertEquals(GARBAGE_REPLY, answer("8000002a" + GETPORT_CALL.substring(8, 8 + 9 * 10) + "0000"));
        assertEquals(BAD_CREDENTIAL_REPLY,
                answer(NULL_CALL.replace("00000002 00000000 00000000", "00000002 00000000 00000006")));
        assertEquals(BAD_CREDENTIAL_REPLY, answer("8000002c" + NULL_CALL.substring(8)
                .replace("00000002 00000000 00000000 00000000", "00000002 00000000 00000001 00000004 00000000")));
    }

    private static String call(RpcRequest request, String expectedCall, String reply) {
        Future<ByteBuf> call = exchange(request, expectedCall, reply);
        ByteBuf results = call.getNow();
        try {
            return dump(results);
        } finally {
            results.release();
        }
    }

    private static String failure(String reply) {
        Throwable cause = exchange(new RpcRequest(100000, 2, 0), null, reply).cause();
        return assertInstanceOf(RpcException.class, cause).getMessage()
                .replace("Call of program 100000 version 2 procedure 0: ", "");
    }

    private static Future<ByteBuf> exchange(RpcRequest request, String expectedCall, String reply) {
        RpcClient client = new RpcClient(1000, 1, System::nanoTime);
        EmbeddedChannel channel = new EmbeddedChannel(new RecordMarkingCodec(1024), client);
        Future<ByteBuf> call = client.call(request);
        channel.runPendingTasks();
        String written = readAll(channel);
        assertEquals(expectedCall == null ? written : expectedCall, written);
        for (ByteBuf piece : split(hex(reply))) {
            channel.writeInbound(piece);
        }
        channel.finish();
        return call;
    }

    /** As TCP may deliver it. */
    private static List<ByteBuf> split(ByteBuf stream) {
        Random random = new Random(111);
        List<ByteBuf> pieces = new ArrayList<>();
        while (stream.isReadable()) {
            pieces.add(stream.readBytes(Math.min(stream.readableBytes(), 1 + random.nextInt(20))));
        }
        return pieces;
    }

    private static String answer(String call) {
        EmbeddedChannel channel = new EmbeddedChannel(new RecordMarkingCodec(1024),
                new RpcServerHandler(new TestProgram(100000, 2, 4, RpcbindTest::serve)));
        channel.writeInbound(hex(call));
        String reply = readAll(channel);
        channel.finish();
        return reply;
    }

    private static void serve(RpcCall call) {
        switch (call.procedure()) {
            case 0 -> call.reply(Unpooled.EMPTY_BUFFER);
            case 3 -> {
                assertEquals(100000, Xdr.readInt(call.arguments(), "program"));
                assertEquals(2, Xdr.readInt(call.arguments(), "version"));
                assertEquals(6, Xdr.readInt(call.arguments(), "protocol"));
                assertEquals(0, Xdr.readInt(call.arguments(), "port"));
                call.reply(hex("0000006f"));
            }
            default -> call.replyProcedureUnavailable();
        }
    }

    private static String readAll(EmbeddedChannel channel) {
        ByteBuf all = Unpooled.buffer();
        for (ByteBuf piece = channel.readOutbound(); piece != null; piece = channel.readOutbound()) {
            all.writeBytes(piece);
            piece.release();
        }
        return dump(all);
    }
}
