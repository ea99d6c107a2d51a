package org.nettyrdma.codec.rpcrdma.legacy.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.nettyrdma.codec.rpcrdma.Bytes.digits;
import static org.nettyrdma.codec.rpcrdma.Bytes.hex;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.codec.rpcrdma.CallLayout;
import org.nettyrdma.codec.rpcrdma.LegacyServerWireTest;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException;
import org.nettyrdma.codec.rpcrdma.UpperLayerBinding;
import org.nettyrdma.codec.rpcrdma.shared.BindingTable;

/** Padding of calls with two large arguments, opaque&lt;&gt; each; one is in {@link LegacyServerWireTest}. */
class AlignmentPaddingTest {

    private static final String HEADER = digits("00000001 00000001 00000020 00000002");
    private static final String CALL = digits("00000000 00000000 00000000"
            + "00000001 00000000 00000002 20000077 00000001 00000001 00000000 00000000 00000000 00000000");

    private final AlignmentPadding padding = new AlignmentPadding(new BindingTable(List.of(new TwoArguments())));

    @Test
    void shouldTakeOutThePaddingOfEveryLargeArgument() throws Exception {
        // 36 bytes of header, 40 of the call and the count: the first data would begin at 80, with padding at 96, the
        // second at 96 + 8 + 4 = 108, with padding at 128.
        assertEquals("00000008aaaaaaaaaaaaaaaa00000009bbbbbbbbbbbbbbbbbb000000",
                unpadded("00000020 00000008", "00000008" + "ee".repeat(16) + "aaaaaaaaaaaaaaaa"
                        + "00000009" + "ee".repeat(20) + "bbbbbbbbbbbbbbbbbb000000"));
    }

    @Test
    void shouldLeaveSmallArgumentsAlone() throws Exception {
        // The second data is at 80 + 8 + 4 = 92.
        assertEquals("00000008aaaaaaaaaaaaaaaa00000009bbbbbbbbbbbbbbbbbb000000",
                unpadded("00000020 00000009", "00000008aaaaaaaaaaaaaaaa00000009eeeeeeeebbbbbbbbbbbbbbbbbb000000"));
    }

    @Test
    void shouldLeaveProgramsWithoutBindingAlone() throws Exception {
        AlignmentPadding without = new AlignmentPadding(new BindingTable(List.of()));
        ByteBuf received = received("00000020 00000000", "00000008aaaaaaaaaaaaaaaa");
        ByteBuf message = without.remove(UnpooledByteBufAllocator.DEFAULT, received, 0);
        assertEquals("00000008aaaaaaaaaaaaaaaa", hex(message).substring(80));
        message.release();
        assertEquals(0, received.refCnt());
    }

    @Test
    void shouldRefuseArgumentsThatCannotBeParsed() {
        for (String arguments : new String[] {"", "00000008", "00000008" + "ee".repeat(16) + "aaaaaaaaaaaaaaaa", "ffffffff"}) {
            ByteBuf received = received("00000020 00000008", arguments);
            RpcRdmaException e = assertThrows(RpcRdmaException.class,
                    () -> padding.remove(UnpooledByteBufAllocator.DEFAULT, received, 0));
            assertEquals(RpcRdmaException.Reason.MALFORMED, e.reason());
            assertEquals(1, received.refCnt()); // still the caller's
            received.release();
        }
    }

    private String unpadded(String hint, String arguments) throws Exception {
        ByteBuf received = received(hint, arguments);
        ByteBuf message = padding.remove(UnpooledByteBufAllocator.DEFAULT, received, 0);
        String digits = hex(message);
        message.release();
        assertEquals(0, received.refCnt());
        return digits.substring(80);
    }

    private static ByteBuf received(String hint, String arguments) {
        return hex(HEADER + hint + CALL + arguments).readerIndex(36);
    }

    /** The count of the second argument is not where it belongs before the first is in place, and may be anything. */
    private static final class TwoArguments implements UpperLayerBinding {

        @Override
        public int program() {
            return 0x20000077;
        }

        @Override
        public CallLayout layoutOfCall(int version, int procedure, ByteBuf arguments) {
            int start = arguments.readerIndex();
            DataItem first = new DataItem(4, arguments.getInt(start));
            int second = 4 + (first.length() + 3 & ~3);
            int length = arguments.getInt(start + second);
            return new CallLayout(List.of(first, new DataItem(second + 4, Math.max(0, length))), null);
        }

        @Override
        public List<DataItem> itemsOfReply(int version, int procedure, ByteBuf results) {
            return List.of();
        }
    }
}
