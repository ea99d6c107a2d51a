package org.nettyrdma.example.nfs.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.codec.oncrpc.ReplySpace;
import org.nettyrdma.codec.oncrpc.XdrException;
import org.nettyrdma.codec.rpcrdma.CallLayout;

/** Messages here are written by hand from RFC 1813. */
class NfsUpperLayerBindingTest {

    private static final int V3 = 3;
    private static final int READLINK = 5;
    private static final int READ = 6;
    private static final int WRITE = 7;
    private static final int SYMLINK = 10;
    private static final int READDIR = 16;
    private static final int READDIRPLUS = 17;
    /** A handle of 5 bytes with its padding. */
    private static final String HANDLE = "00000005 0102030405 000000";
    private static final String ATTRIBUTES = "00000001" + "00".repeat(84);
    private static final String NO_ATTRIBUTES = "00000000";

    private final NfsUpperLayerBinding binding = new NfsUpperLayerBinding();

    @Test
    void shouldFindTheDataOfWrite() {
        // Handle, offset, count, stable, data with padding.
        ByteBuf arguments = xdr(HANDLE + "0000000000001000 00000006 00000000 00000006 414243444546 0000");
        assertEquals(List.of(new DataItem(32, 6)), binding.layoutOfCall(V3, WRITE, arguments).items());
        assertEquals(new ReplySpace(24 + 4 + 116 + 4 + 4 + 8), binding.layoutOfCall(V3, WRITE, arguments).replySpace());
    }

    @Test
    void shouldFindTheDataOfWriteBehindOtherBytes() {
        ByteBuf arguments = xdr("ffffffff" + HANDLE + "0000000000001000 00000004 00000002 00000004 41424344").skipBytes(4);
        assertEquals(List.of(new DataItem(32, 4)), binding.layoutOfCall(V3, WRITE, arguments).items());
        assertEquals(4, arguments.readerIndex());
    }

    @Test
    void shouldFindNoItemInAWriteOfNothing() {
        ByteBuf arguments = xdr(HANDLE + "0000000000001000 00000000 00000000 00000000");
        assertEquals(List.of(), binding.layoutOfCall(V3, WRITE, arguments).items());
    }

    @Test
    void shouldFindTheTargetOfSymlinkBehindNoAttributes() {
        // Handle, name "ab", six attributes that are not set, target "/x".
        ByteBuf arguments = xdr(HANDLE + "00000002 6162 0000" + "00000000".repeat(6) + "00000002 2f78 0000");
        assertEquals(List.of(new DataItem(12 + 8 + 24 + 4, 2)), binding.layoutOfCall(V3, SYMLINK, arguments).items());
    }

    @Test
    void shouldFindTheTargetOfSymlinkBehindAllAttributes() {
        // Mode, user, group, size, access time by the client, modification time by the server.
        ByteBuf arguments = xdr(HANDLE + "00000001 61 000000"
                + "00000001 000001ff 00000001 00000001 00000001 00000002 00000001 0000000000000003"
                + "00000002 00000001 00000002 00000001 00000001 78 000000");
        assertEquals(List.of(new DataItem(12 + 8 + 8 * 3 + 12 + 12 + 4 + 4, 1)),
                binding.layoutOfCall(V3, SYMLINK, arguments).items());
    }

    @Test
    void shouldOfferTheCountOfReadForItsData() {
        // Handle, offset, count 1 MiB. The rest of a reply that places its data is 128 bytes, which Linux relies on.
        CallLayout layout = binding.layoutOfCall(V3, READ, xdr(HANDLE + "0000000000000000 00100000"));
        assertEquals(new CallLayout(List.of(), new ReplySpace(128, List.of(1 << 20))), layout);
    }

    @Test
    void shouldNotOfferMoreForReadThanThisProgramTakes() {
        CallLayout layout = binding.layoutOfCall(V3, READ, xdr(HANDLE + "0000000000000000 ffffffff"));
        assertEquals(List.of(Nfs.MAX_DATA_BYTES), layout.replySpace().maxDataItemBytes());
    }

    @Test
    void shouldFindTheDataOfReadBehindAttributes() {
        // Status, attributes, count, end of file, data.
        ByteBuf results = xdr("00000000" + ATTRIBUTES + "00000003 00000001 00000003 414243 00");
        assertEquals(List.of(new DataItem(104, 3)), binding.itemsOfReply(V3, READ, results));
    }

    @Test
    void shouldFindTheDataOfReadWithoutAttributes() {
        ByteBuf results = xdr("00000000" + NO_ATTRIBUTES + "00000004 00000000 00000004 41424344");
        assertEquals(List.of(new DataItem(20, 4)), binding.itemsOfReply(V3, READ, results));
    }

    @Test
    void shouldFindWherePlacedDataOfReadIsMissing() {
        // The length word is the last word; 3 bytes and their padding were placed.
        ByteBuf results = xdr("00000000" + ATTRIBUTES + "00000003 00000001 00000003");
        assertEquals(List.of(new DataItem(104, 3)), binding.itemsOfReducedReply(V3, READ, results, List.of(4)));
    }

    @Test
    void shouldFindNothingMissingWhereNothingWasPlaced() {
        ByteBuf results = xdr("00000000" + ATTRIBUTES + "00000003 00000001 00000003 414243 00");
        assertEquals(List.of(), binding.itemsOfReducedReply(V3, READ, results, List.of(0)));
        assertEquals(List.of(), binding.itemsOfReducedReply(V3, READ, results, List.of()));
    }

    @Test
    void shouldFindNoItemInAFailedRead() {
        assertEquals(List.of(), binding.itemsOfReply(V3, READ, xdr("00000046" + NO_ATTRIBUTES)));
    }

    @Test
    void shouldFindTheTargetOfReadlink() {
        assertEquals(List.of(new DataItem(96, 2)), binding.itemsOfReply(V3, READLINK,
                xdr("00000000" + ATTRIBUTES + "00000002 2f78 0000")));
        assertEquals(List.of(new DataItem(12, 2)), binding.itemsOfReducedReply(V3, READLINK,
                xdr("00000000" + NO_ATTRIBUTES + "00000002"), List.of(2)));
        assertEquals(new CallLayout(List.of(), new ReplySpace(24 + 4 + 88 + 4, List.of(4096))),
                binding.layoutOfCall(V3, READLINK, xdr(HANDLE)));
    }

    @Test
    void shouldOfferTheCountOfDirectoryListings() {
        // Handle, cookie, verifier, count; READDIRPLUS has one count for the names before that for all.
        ByteBuf readdir = xdr(HANDLE + "0000000000000000 0000000000000000 00010000");
        assertEquals(new CallLayout(List.of(), new ReplySpace(24 + 4 + 88 + 8 + 8 + 65536)),
                binding.layoutOfCall(V3, READDIR, readdir));
        ByteBuf readdirplus = xdr(HANDLE + "0000000000000000 0000000000000000 00000400 00010000");
        assertEquals(new CallLayout(List.of(), new ReplySpace(24 + 4 + 88 + 8 + 8 + 65536)),
                binding.layoutOfCall(V3, READDIRPLUS, readdirplus));
    }

    /** Sizes added up from the XDR: a status and what follows it, after an accepted reply's 24 bytes. */
    @ParameterizedTest
    @CsvSource({"0, 0", "1, 88", "2, 120", "3, 248", "4, 96", "8, 280", "9, 280", "10, 280", "11, 280", "12, 120", "13, 120",
        "14, 236", "15, 208", "18, 144", "19, 140", "20, 116", "21, 128"})
    void shouldKnowTheLargestReplyOfEachProcedure(int procedure, int resultBytes) {
        ByteBuf arguments = xdr(HANDLE + "00000000".repeat(20));
        assertEquals(new ReplySpace(24 + resultBytes), binding.layoutOfCall(V3, procedure, arguments).replySpace());
    }

    @Test
    void shouldRefuseArgumentsThatAreTooShort() {
        ByteBuf whole = xdr(HANDLE + "0000000000001000 00000004 00000000 00000004");
        for (int length = 0; length < whole.readableBytes(); length++) {
            ByteBuf truncated = whole.slice(0, length);
            assertThrows(XdrException.class, () -> binding.layoutOfCall(V3, WRITE, truncated), "length " + length);
        }
    }

    @Test
    void shouldRefuseLengthsBeyondItsLimits() {
        assertThrows(XdrException.class, () -> binding.layoutOfCall(V3, WRITE, xdr("fffffffc" + "00".repeat(40))));
        assertThrows(XdrException.class,
                () -> binding.layoutOfCall(V3, WRITE, xdr(HANDLE + "0000000000001000 00000004 00000000 80000000")));
        assertThrows(XdrException.class,
                () -> binding.itemsOfReply(V3, READ, xdr("00000000" + NO_ATTRIBUTES + "00000004 00000000 7fffffff")));
    }

    @Test
    void shouldKnowNothingOfOtherVersionsAndProcedures() {
        assertEquals(CallLayout.UNKNOWN, binding.layoutOfCall(2, READ, xdr(HANDLE)));
        assertEquals(CallLayout.UNKNOWN, binding.layoutOfCall(V3, 22, xdr(HANDLE)));
        assertEquals(List.of(), binding.itemsOfReply(2, READ, xdr("00000000")));
        assertEquals(100003, binding.program());
    }

    @Test
    void shouldBindMountWithoutEligibleItems() {
        MountUpperLayerBinding mount = new MountUpperLayerBinding();
        assertEquals(100005, mount.program());
        // Status, handle of 64 bytes, 32 flavors.
        assertEquals(new CallLayout(List.of(), new ReplySpace(24 + 4 + 68 + 132)),
                mount.layoutOfCall(V3, 1, xdr("00000001 2f000000")));
        assertEquals(new CallLayout(List.of(), new ReplySpace(24 + 65536)), mount.layoutOfCall(V3, 5, xdr("")));
        assertEquals(new CallLayout(List.of(), new ReplySpace(24)), mount.layoutOfCall(V3, 3, xdr("00000001 2f000000")));
        assertEquals(CallLayout.UNKNOWN, mount.layoutOfCall(1, 1, xdr("")));
        assertEquals(List.of(), mount.itemsOfReply(V3, 1, xdr("00000000")));
    }

    private static ByteBuf xdr(String hex) {
        return Unpooled.wrappedBuffer(ByteBufUtil.decodeHexDump(hex.replace(" ", "")));
    }
}
