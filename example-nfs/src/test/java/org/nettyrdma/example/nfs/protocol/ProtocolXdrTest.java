package org.nettyrdma.example.nfs.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.nettyrdma.codec.oncrpc.XdrException;

/** The wire forms, against bytes written by hand from the XDR in RFC 1813. */
class ProtocolXdrTest {

    private static final String HANDLE_HEX = "00000005 0102030405 000000";
    private static final FileHandle HANDLE = new FileHandle(new byte[] {1, 2, 3, 4, 5});
    private static final String WHERE_HEX = HANDLE_HEX + "00000003 61c3a4 00";
    private static final DirectoryOperationArguments WHERE = new DirectoryOperationArguments(HANDLE, "a\u00e4");
    private static final String NO_CHANGES_HEX = "00000000 00000000 00000000 00000000 00000000 00000000";
    private static final String ALL_CHANGES_HEX = "00000001 000001a4 00000001 000003e8 00000001 00000064"
            + "00000001 0000000100000002 00000001 00000002 00000007 00000008";
    private static final Sattr ALL_CHANGES = Sattr.NONE.withMode(0644).withOwner(1000, 100).withSize(0x1_0000_0002L)
            .withTimes(TimeChange.SERVER_TIME, TimeChange.to(new NfsTime(7, 8)));
    private static final String FATTR_HEX = "00000002 000001ed 00000003 000003e8 00000064"
            + "0000000000001000 0000000000002000 00000008 00000009 0000000000000011 0000000000000022"
            + "00000001 00000002 00000003 00000004 00000005 00000006";
    private static final Fattr FATTR = new Fattr(FileType.DIRECTORY, 0755, 3, 1000, 100, 0x1000, 0x2000,
            new DeviceNumber(8, 9), 0x11, 0x22, new NfsTime(1, 2), new NfsTime(3, 4), new NfsTime(5, 6));
    private static final String WCC_ATTR_HEX = "0000000000001000 00000003 00000004 00000005 00000006";

    private static <T extends WireForm> Arguments form(String hex, T value, Function<ByteBuf, T> reader) {
        return form(hex, value, reader, value);
    }

    /** One wire form: the bytes, the value, how it is read and how it is written. */
    private static <T> Arguments form(String hex, T value, Function<ByteBuf, T> reader, WireForm writer) {
        return Arguments.of(hex.replace(" ", ""), value, reader, writer);
    }

    private static void writePlus(DirectoryEntry entry, ByteBuf out) {
        entry.write(out);
        entry.writeFile(out);
    }

    static Stream<Arguments> forms() {
        return Stream.concat(arguments(), results());
    }

    static Stream<Arguments> arguments() {
        return Stream.of(
                form(HANDLE_HEX, HANDLE, FileHandle::read),
                form(WHERE_HEX, WHERE, DirectoryOperationArguments::read),
                form(NO_CHANGES_HEX, Sattr.NONE, Sattr::read),
                form(ALL_CHANGES_HEX, ALL_CHANGES, Sattr::read),
                form(HANDLE_HEX + ALL_CHANGES_HEX + "00000001 00000005 00000006",
                        new SetAttributesArguments(HANDLE, ALL_CHANGES, new NfsTime(5, 6)), SetAttributesArguments::read),
                form(HANDLE_HEX + NO_CHANGES_HEX + "00000000",
                        new SetAttributesArguments(HANDLE, Sattr.NONE, null), SetAttributesArguments::read),
                form(HANDLE_HEX + "0000003f", new AccessArguments(HANDLE, AccessBits.ALL), AccessArguments::read),
                form(HANDLE_HEX + "8000000000000001 ffffffff", new ReadArguments(HANDLE, Long.MIN_VALUE + 1, 0xFFFF_FFFFL),
                        ReadArguments::read),
                form(HANDLE_HEX + "0000000000000001 00000002", new CommitArguments(HANDLE, 1, 2), CommitArguments::read),
                form(WHERE_HEX + "00000001" + NO_CHANGES_HEX, new CreateArguments(WHERE, CreateMode.GUARDED, Sattr.NONE, 0),
                        CreateArguments::read),
                form(WHERE_HEX + "00000002 0102030405060708",
                        new CreateArguments(WHERE, CreateMode.EXCLUSIVE, Sattr.NONE, 0x0102030405060708L), CreateArguments::read),
                form(WHERE_HEX + ALL_CHANGES_HEX, new MakeDirectoryArguments(WHERE, ALL_CHANGES),
                        MakeDirectoryArguments::read),
                form(WHERE_HEX + NO_CHANGES_HEX + "00000002 2e2e 0000", new SymbolicLinkArguments(WHERE, Sattr.NONE, ".."),
                        SymbolicLinkArguments::read),
                form(WHERE_HEX + "00000004" + NO_CHANGES_HEX + "00000001 00000003",
                        new MakeNodeArguments(WHERE, FileType.CHARACTER_DEVICE, Sattr.NONE, new DeviceNumber(1, 3)),
                        MakeNodeArguments::read),
                form(WHERE_HEX + "00000007" + NO_CHANGES_HEX,
                        new MakeNodeArguments(WHERE, FileType.FIFO, Sattr.NONE, DeviceNumber.NONE), MakeNodeArguments::read),
                form(WHERE_HEX + "00000001",
                        new MakeNodeArguments(WHERE, FileType.REGULAR, Sattr.NONE, DeviceNumber.NONE), MakeNodeArguments::read),
                form(WHERE_HEX + WHERE_HEX, new RenameArguments(WHERE, WHERE), RenameArguments::read),
                form(HANDLE_HEX + WHERE_HEX, new LinkArguments(HANDLE, WHERE), LinkArguments::read),
                form(HANDLE_HEX + "0000000000000007 0000000000000008 00001000",
                        new ReadDirectoryArguments(HANDLE, 7, 8, 4096), ReadDirectoryArguments::read),
                form(HANDLE_HEX + "0000000000000007 0000000000000008 00001000 00002000",
                        new ReadDirectoryPlusArguments(HANDLE, 7, 8, 4096, 8192), ReadDirectoryPlusArguments::read));
    }

    static Stream<Arguments> results() {
        WccData changes = new WccData(FATTR.toWccAttr(), FATTR);
        FileSystemStatus status = new FileSystemStatus(1, 2, 3, 4, 5, 6, 7);
        FileSystemInfo info = new FileSystemInfo(1, 2, 3, 4, 5, 6, 7, 8, new NfsTime(0, 1), 0x1b);
        PathConfiguration configuration = new PathConfiguration(1, 255, true, false, false, true);
        DirectoryEntry entry = new DirectoryEntry(9, "ab", 10, null, null);
        DirectoryEntry entryPlus = new DirectoryEntry(9, "ab", 10, FATTR, HANDLE);
        String entryHex = "0000000000000009 00000002 6162 0000 000000000000000a";
        return Stream.of(
                form(FATTR_HEX, FATTR, Fattr::read),
                form("00000001" + FATTR_HEX, FATTR, Fattr::readOptional, out -> WireForm.writeOptional(FATTR, out)),
                form("00000001" + HANDLE_HEX, HANDLE, FileHandle::readOptional, out -> WireForm.writeOptional(HANDLE, out)),
                form("00000001" + WCC_ATTR_HEX + "00000001" + FATTR_HEX, changes, WccData::read),
                form("00000000 00000000", WccData.NONE, WccData::read),
                form("0000000000000001 0000000000000002 0000000000000003 0000000000000004 0000000000000005 0000000000000006"
                        + "00000007", status, FileSystemStatus::read),
                form("00000001 00000002 00000003 00000004 00000005 00000006 00000007 0000000000000008 00000000 00000001"
                        + "0000001b", info, FileSystemInfo::read),
                form("00000001 000000ff 00000001 00000000 00000000 00000001", configuration, PathConfiguration::read),
                form(entryHex, entry, DirectoryEntry::read),
                form(entryHex + "00000001" + FATTR_HEX + "00000001" + HANDLE_HEX, entryPlus, DirectoryEntry::readPlus,
                        out -> writePlus(entryPlus, out)),
                form(entryHex + "00000000 00000000", entry, DirectoryEntry::readPlus, out -> writePlus(entry, out)),
                form(HANDLE_HEX + "00000002 00000001 00000000", new MountResult(HANDLE, List.of(1, 0)), MountResult::read),
                form("00000001 00000001 68 000000 00000002 2f61 0000 00000000", List.of(new MountEntry("h", "/a")),
                        MountEntry::readList, out -> MountEntry.writeList(List.of(new MountEntry("h", "/a")), out)),
                form("00000001 00000002 2f61 0000 00000001 00000001 67 000000 00000000 00000000",
                        List.of(new ExportEntry("/a", List.of("g"))), ExportEntry::readList,
                        out -> ExportEntry.writeList(List.of(new ExportEntry("/a", List.of("g"))), out)));
    }

    @ParameterizedTest
    @MethodSource("forms")
    void shouldReadAndWriteTheFormOfTheSpecification(String hex, Object value, Function<ByteBuf, Object> reader,
                                                     WireForm writer) {
        ByteBuf in = Unpooled.wrappedBuffer(ByteBufUtil.decodeHexDump(hex));
        assertEquals(value, reader.apply(in));
        assertFalse(in.isReadable());
        ByteBuf out = Unpooled.buffer();
        writer.write(out);
        assertEquals(hex, ByteBufUtil.hexDump(out));
    }

    @ParameterizedTest
    @MethodSource("forms")
    void shouldRefuseEveryTruncation(String hex, Object value, Function<ByteBuf, Object> reader, WireForm writer) {
        byte[] whole = ByteBufUtil.decodeHexDump(hex);
        for (int length = 0; length < whole.length; length++) {
            ByteBuf in = Unpooled.wrappedBuffer(whole, 0, length);
            assertThrows(XdrException.class, () -> reader.apply(in), "length " + length);
        }
    }

    @Test
    void shouldReadAndWriteTheDataOfWrite() {
        String hex = (HANDLE_HEX + "0000000000000001 00000003 00000002 00000003 aabbcc 00").replace(" ", "");
        WriteArguments arguments = WriteArguments.read(Unpooled.wrappedBuffer(ByteBufUtil.decodeHexDump(hex)));
        assertEquals(HANDLE, arguments.file());
        assertEquals(1, arguments.offset());
        assertEquals(3, arguments.count());
        assertEquals(StableHow.FILE_SYNC, arguments.stable());
        assertEquals("aabbcc", ByteBufUtil.hexDump(arguments.data()));
        ByteBuf out = Unpooled.buffer();
        arguments.write(out);
        assertEquals(hex, ByteBufUtil.hexDump(out));
        ByteBuf head = Unpooled.buffer();
        arguments.writeWithoutData(head);
        assertEquals(hex.substring(0, hex.length() - 8), ByteBufUtil.hexDump(head));
    }

    @Test
    void shouldReadAbsentPieces() {
        assertNull(Fattr.readOptional(Unpooled.buffer().writeInt(0)));
        assertNull(FileHandle.readOptional(Unpooled.buffer().writeInt(0)));
    }

    @Test
    void shouldRefuseValuesThatDoNotExist() {
        assertThrows(XdrException.class, () -> FileType.read(Unpooled.buffer().writeInt(0)));
        assertThrows(XdrException.class, () -> FileType.read(Unpooled.buffer().writeInt(8)));
        assertThrows(XdrException.class, () -> StableHow.read(Unpooled.buffer().writeInt(3)));
        assertThrows(XdrException.class, () -> CreateMode.read(Unpooled.buffer().writeInt(-1)));
        assertThrows(XdrException.class, () -> TimeChange.read(Unpooled.buffer().writeInt(3)));
        assertThrows(XdrException.class, () -> FileHandle.read(Unpooled.buffer().writeInt(65).writeZero(68)));
        assertThrows(XdrException.class, () -> MountResult.read(
                Unpooled.buffer().writeInt(0).writeInt(1000).writeZero(4000)));
        assertThrows(IllegalArgumentException.class, () -> new FileHandle(new byte[65]));
        assertThrows(IllegalArgumentException.class, () -> new TimeChange(TimeChange.How.SET_TO_CLIENT_TIME, null));
    }
}
