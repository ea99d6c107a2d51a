package org.nettyrdma.codec.oncrpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.nettyrdma.codec.oncrpc.Hex.dump;
import static org.nettyrdma.codec.oncrpc.Hex.hex;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.AbstractList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a program does wrong with a call: the caller gets an answer all the same. */
class RpcCallTest {

    /** XID 7, program 200000 version 1, procedure 5, no authentication. */
    private static final String CALL =
            "00000007 00000000 00000002 00030d40 00000001 00000005 00000000 00000000 00000000 00000000";
    private static final String SYSTEM_ERROR = "00000007 00000001 00000000 00000000 00000000 00000005";
    /** One call, refused, and one failure of the program. */
    private static final RpcServerStatistics FAILED = new RpcServerStatistics(1, 1, 0, 1, 0, 0);

    @Test
    void shouldAnswerSystemErrorWhereTheProgramRefusesWithoutAReason() {
        assertSystemError(new TestProgram(200000, 1, 1, call -> call.replyAuthError(null)));
        assertSystemError(new TestProgram(200000, 1, 1, call -> call.replySystemError(null)));
        assertSystemError(new DuplicateRequestCache().guard(new TestProgram(200000, 1, 1, call -> call.replyAuthError(null))));
    }

    /** Its number on the wire would be 0, "not refused", or none. */
    @ParameterizedTest
    @EnumSource(names = {"AUTH_OK", "UNKNOWN"})
    void shouldAnswerSystemErrorWhereTheProgramRefusesForWhatIsNoReason(AuthStatus status) {
        assertSystemError(new TestProgram(200000, 1, 1, call -> call.replyAuthError(status)));
    }

    @ParameterizedTest
    @NullSource
    @EnumSource(names = "UNKNOWN")
    void shouldAnswerSystemErrorWhereTheCheckOfCredentialsSaysNothing(AuthStatus status) {
        assertSystemError(new SingleVersionProgram() {
            @Override
            public int program() {
                return 200000;
            }

            @Override
            public AuthStatus authenticate(RpcCallHeader header) {
                return status;
            }

            @Override
            public void call(RpcCall call) {
                call.reply(Unpooled.EMPTY_BUFFER);
            }
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, -200, Integer.MIN_VALUE, Integer.MAX_VALUE})
    void shouldRefuseRoomThatCannotBe(int bytes) {
        UnpooledByteBufAllocator alloc = new UnpooledByteBufAllocator(false);
        String refusal = assertThrows(IllegalArgumentException.class, () -> new RpcRequest(1, 1, 1, alloc, bytes)).getMessage();
        assertEquals("argumentBytes: " + bytes + " (expected: 0-2147483519)", refusal);
        assertSystemError(new TestProgram(200000, 1, 1, call -> {
            ByteBufAllocator before = call.alloc();
            call.channel().config().setAllocator(alloc);
            try {
                call.newResults(bytes);
            } finally {
                call.channel().config().setAllocator(before);
            }
        }));
        assertEquals(0, alloc.metric().usedHeapMemory(), "leaked");
    }

    @Test
    void shouldReleaseTheResultsWhoseItemsFindNoMemory() {
        ByteBuf results = Unpooled.buffer().writeInt(1);
        List<DataItem> items = new AbstractList<>() {
            @Override
            public DataItem get(int index) {
                throw new OutOfMemoryError("expected");
            }

            @Override
            public int size() {
                return 2;
            }
        };
        assertSystemError(new TestProgram(200000, 1, 1, call -> call.reply(results, items)));
        assertEquals(0, results.refCnt());
    }

    private static void assertSystemError(RpcProgram program) {
        RpcServerHandler handler = new RpcServerHandler(program);
        EmbeddedChannel server = new EmbeddedChannel(handler);
        try {
            server.writeInbound(hex(CALL));
            ByteBuf reply = server.readOutbound();
            assertEquals(SYSTEM_ERROR, dump(reply));
            reply.release();
            assertEquals(FAILED, handler.statistics());
        } finally {
            server.finishAndReleaseAll();
        }
    }
}
