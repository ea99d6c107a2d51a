package org.nettyrdma.codec.oncrpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.nettyrdma.codec.oncrpc.Hex.dump;
import static org.nettyrdma.codec.oncrpc.Hex.hex;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.Test;

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

    @Test
    void shouldAnswerSystemErrorWhereTheCheckOfCredentialsSaysNothing() {
        assertSystemError(new RpcProgram() {
            @Override
            public int program() {
                return 200000;
            }

            @Override
            public int lowestVersion() {
                return 1;
            }

            @Override
            public int highestVersion() {
                return 1;
            }

            @Override
            public AuthStatus authenticate(RpcCallHeader header) {
                return null;
            }

            @Override
            public void call(RpcCall call) {
                call.reply(Unpooled.EMPTY_BUFFER);
            }
        });
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
