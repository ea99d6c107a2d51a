package org.nettyrdma.example.nfs.v41;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.nettyrdma.codec.oncrpc.RpcServerHandler;

/** Callbacks byte for byte, as the XDR of RFC 5662 has them. */
class CallbackProgramTest {

    private static final String SESSION = "000102030405060708090a0b0c0d0e0f";
    private static final String CALL = "00000007 00000000 00000002 40000000 00000001 00000001 0000000000000000 0000000000000000";
    private static final String REPLY = "00000007 00000001 00000000 0000000000000000 00000000";
    /** Tag "cb", minor version 1, callback_ident. */
    private static final String COMPOUND = CALL + "00000002 63620000 00000001 00000000";
    private static final String SEQUENCE_RESULT = "0000000b 00000000" + SESSION + "00000001 00000000 00000003 00000003";
    private static final String STATE_ID = "00000001 a0a1a2a3a4a5a6a7a8a9aaab";

    private final CallbackSession session = new CallbackSession(4);
    private final List<StateId> recalls = new ArrayList<>();
    private final EmbeddedChannel channel =
            new EmbeddedChannel(new RpcServerHandler(new CallbackProgram(session, callback -> { }, recalls::add)));

    @BeforeEach
    void openSession() {
        session.open(bytes(SESSION));
    }

    @AfterEach
    void nothingIsLeft() {
        channel.finishAndReleaseAll();
    }

    @Test
    void shouldTakeBackDelegation() {
        assertReply("00000000 00000002 63620000 00000002" + SEQUENCE_RESULT + "00000004 00000000",
                "00000002" + sequence(1, 0) + "00000004" + STATE_ID + "00000000 00000004 deadbeef");
        assertEquals(1, recalls.size());
        assertArrayEquals(bytes("a0a1a2a3a4a5a6a7a8a9aaab"), recalls.get(0).other());
    }

    @Test
    void shouldSkipReferringCalls() {
        assertReply("00000000 00000002 63620000 00000001" + SEQUENCE_RESULT, "00000001 0000000b" + SESSION
                + "00000001 00000000 00000000 00000000 00000001" + SESSION + "00000002 00000001 00000000 00000002 00000000");
    }

    @Test
    void shouldRefuseWrongSessionSlotAndSequence() {
        assertReply("00002744 00000002 63620000 00000001 0000000b 00002744",
                "00000001" + sequence(1, 0).replace("0e0f", "0e10"));
        assertReply("00002745 00000002 63620000 00000001 0000000b 00002745", "00000001" + sequence(1, 4));
        assertReply("0000274f 00000002 63620000 00000001 0000000b 0000274f", "00000001" + sequence(2, 0));
        assertReply("00000000 00000002 63620000 00000001" + SEQUENCE_RESULT, "00000001" + sequence(1, 0));
        assertReply("00002754 00000002 63620000 00000001 0000000b 00002754", "00000001" + sequence(1, 0));
    }

    @Test
    void shouldRefuseOperationsThatItDoesNotServe() {
        assertReply("00002714 00000002 63620000 00000002" + SEQUENCE_RESULT + "00000005 00002714",
                "00000002" + sequence(1, 0) + "00000005");
        assertReply("0000273c 00000002 63620000 00000001 0000273c 0000273c", "00000001 00000063");
        assertReply("00002757 00000002 63620000 00000001 00000004 00002757", "00000001 00000004");
    }

    private static String sequence(int sequence, int slot) {
        return "0000000b" + SESSION + String.format("%08x%08x", sequence, slot) + "00000000 00000000 00000000";
    }

    /** Calls with these operations. */
    private void assertReply(String expected, String operations) {
        channel.writeInbound(Unpooled.wrappedBuffer(bytes(COMPOUND + operations)));
        channel.flush();
        ByteBuf reply = channel.readOutbound();
        assertEquals(ByteBufUtil.hexDump(bytes(REPLY + expected)), ByteBufUtil.hexDump(reply));
        reply.release();
    }

    private static byte[] bytes(String digits) {
        return ByteBufUtil.decodeHexDump(digits.replace(" ", ""));
    }
}
