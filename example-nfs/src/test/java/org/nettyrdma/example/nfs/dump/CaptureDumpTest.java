package org.nettyrdma.example.nfs.dump;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.example.nfs.dump.CaptureFile.Frame;

class CaptureDumpTest {

    /** Sequence numbers wrap around early in the stream. */
    private static final int FIRST = -100;

    /** All that the client sent, and what the Linux server answered. */
    private static final List<String> LINUX_SERVER = List.of(
            "> MPA request revision 2 CRC IRD 16 ORD 16 send 4096 receive 4096 remote invalidation",
            "< MPA reply revision 2 CRC IRD 16 ORD 16 send 4096 receive 4096 no remote invalidation",
            "> v1 RDMA_MSG xid 00000001 credits 32 | CALL NFS v3 NULL",
            "< v1 RDMA_MSG xid 00000001 credits 64 | REPLY SUCCESS",
            "> v1 RDMA_NOMSG xid 00000002 credits 32 read at 0 [00002200:40@0]",
            "< RDMA Read Request 00002200:40@0 to d1f69401@ff3d5178c479c000",
            "> RDMA Read Response d1f69401:40@ff3d5178c479c000",
            "< v1 RDMA_MSG xid 00000002 credits 64 | REPLY SUCCESS | invalidates 00002200",
            "> v1 RDMA_MSG xid 00000003 credits 32 reply [00003300:256@40] | CALL NFS v3 NULL",
            "< RDMA Write 00003300:24@40",
            "< v1 RDMA_NOMSG xid 00000003 credits 64 reply [00003300:24@40] | invalidates 00003300",
            "> v2 (version-two-08) xid 00000004 malformed: Write list: presence word 4 (expected: 0..1), at byte 32 of 68",
            "< v2 RDMA2_ERROR xid 00000004 credits 64 ERR_VERS 1 to 1",
            "> v1 xid 00000005 malformed: Write list: presence word 5 (expected: 0..1), at byte 32 of 68",
            "< v1 RDMA_ERROR xid 00000005 credits 64 ERR_CHUNK",
            "> RDMA Write 00000000:0@0",
            "> v1 RDMA_MSG xid 00000006 credits 32 | CALL NFS v3 NULL",
            "< v1 RDMA_MSG xid 00000006 credits 64 | REPLY SUCCESS",
            "> v1 RDMA_MSG xid 00000007 credits 32 | CALL NFS v3 NULL",
            "< v1 RDMA_MSG xid 00000007 credits 64 | REPLY SUCCESS",
            "> RDMA Write 12345600:4@1000",
            "< Terminate layer 1 type 1 code 0x00");

    private static final String CALL = "0000002a 00000001 00000020 00000000 00000000 00000000 00000000"
            + "0000002a 00000000 00000002 000186a3 00000003 00000006 0000000000000000 0000000000000000";

    @ParameterizedTest
    @CsvSource({"0xA1B2C3D4,true,1,false", "0xA1B2C3D4,false,1,true", "0xA1B23C4D,true,101,false", "0xA1B23C4D,false,0,true",
        "0xA1B2C3D4,true,113,true", "0xA1B2C3D4,true,276,false", "0xA1B2C3D4,true,229,true"})
    void shouldShowWhatALinuxServerWasSentAndAnswered(String magic, boolean littleEndian, int linkType, boolean ipv6)
            throws IOException {
        CaptureFile file = new CaptureFile(Long.decode(magic).intValue(), littleEndian, linkType, ipv6);
        List<String> lines = dump(true, exchange(file).bytes());
        String client = ipv6 ? "[::1]:1000 > [::2]:2000 " : "10.0.0.1:1000 > 10.0.0.2:2000 ";
        assertEquals((magic.equals("0xA1B23C4D") ? "00:00:01.000000007 " : "00:00:01.000007000 ") + client
                + LINUX_SERVER.get(0).substring(2), lines.get(0));
        assertEquals(LINUX_SERVER, directions(lines));
    }

    @Test
    void shouldShowSendsOnlyUnlessAskedForAll() throws IOException {
        List<String> sends = LINUX_SERVER.stream().filter(line -> !line.matches(". (RDMA|Terminate).*")).toList();
        assertEquals(sends, directions(dump(false, exchange(new CaptureFile()).bytes())));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
    void shouldFollowAStreamThatIsCutRepeatedAndOutOfOrder(int seed) throws IOException {
        Random random = new Random(seed);
        ByteBuf stream = stream(true);
        List<int[]> pieces = new ArrayList<>();
        for (int from = 0; from < stream.readableBytes(); ) {
            int to = Math.min(stream.readableBytes(), from + 1 + random.nextInt(120));
            pieces.add(new int[] {Math.max(0, from - random.nextInt(30)), to}); // some overlap
            if (random.nextInt(4) == 0) {
                pieces.add(new int[] {from, to}); // some come again
            }
            from = to;
        }
        for (int i = 0; i + 6 < pieces.size(); i += 3) {
            Collections.shuffle(pieces.subList(i, i + 6), random);
        }
        CaptureFile file = new CaptureFile().syn(true, FIRST - 1).syn(true, FIRST - 1);
        for (int[] piece : pieces) {
            file.data(true, FIRST + piece[0], stream.slice(piece[0], piece[1] - piece[0]));
        }
        assertEquals(LINUX_SERVER.stream().filter(line -> line.startsWith(">")).map(CaptureDumpTest::withoutDraft).toList(),
                directions(dump(true, file.bytes())).stream().map(CaptureDumpTest::withoutDraft).toList());
    }

    @Test
    void shouldReportWhatTheCaptureLacksAndGoOn() throws IOException {
        List<ByteBuf> frames = frames(true);
        CaptureFile file = new CaptureFile().syn(true, FIRST - 1);
        int sequence = FIRST;
        for (int i = 0; i < frames.size(); i++) {
            if (i != 1) {
                file.data(true, sequence, frames.get(i));
            }
            sequence += frames.get(i).readableBytes();
        }
        List<String> lines = directions(dump(true, file.bytes()));
        assertEquals(LINUX_SERVER.get(0), lines.get(0));
        assertEquals("> the capture lacks 92 bytes", lines.get(1));
        assertEquals(LINUX_SERVER.get(4), lines.get(2));
        assertEquals(frames.size(), lines.size());
    }

    @Test
    void shouldReportPacketsThatWereCut() throws IOException {
        List<ByteBuf> frames = frames(true);
        int length = frames.get(0).readableBytes();
        byte[] file = new CaptureFile().data(true, FIRST, frames.get(0))
                .packet(true, FIRST + length, CaptureFile.ACK, frames.get(1), 10)
                .data(true, FIRST + length + frames.get(1).readableBytes(), frames.get(2)).bytes();
        assertEquals(List.of(LINUX_SERVER.get(0), "> the capture lacks 10 bytes", LINUX_SERVER.get(4)),
                directions(dump(false, file)));
    }

    /** As those are that the network card cuts into pieces, if they are long: what follows is not to wait for more. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldReportPacketsThatWereCutAndTellNoLength(boolean ipv6) throws IOException {
        List<ByteBuf> frames = frames(true);
        int length = frames.get(0).readableBytes();
        byte[] file = new CaptureFile(0xA1B2C3D4, true, 1, ipv6).withoutLengths().data(true, FIRST, frames.get(0))
                .packet(true, FIRST + length, CaptureFile.ACK, frames.get(1), 10)
                .data(true, FIRST + length + frames.get(1).readableBytes(), frames.get(2))
                .data(false, FIRST, frames(false).get(0)).bytes();
        assertEquals(List.of(LINUX_SERVER.get(0), "> the capture lacks 10 bytes", LINUX_SERVER.get(4), LINUX_SERVER.get(1)),
                directions(dump(false, file)));
    }

    @Test
    void shouldBeginInTheMiddleOfAConnection() throws IOException {
        List<ByteBuf> frames = frames(true);
        byte[] file = new CaptureFile().data(true, 7, frames.get(1).slice(50, frames.get(1).readableBytes() - 50))
                .data(true, 7 + frames.get(1).readableBytes() - 50, frames.get(2)).bytes();
        assertEquals(List.of(LINUX_SERVER.get(4)), directions(dump(false, file)));
    }

    @Test
    void shouldNotBelieveAFrameWhoseAgreedCrcIsWrong() throws IOException {
        List<ByteBuf> frames = frames(true);
        frames.get(1).setByte(30, frames.get(1).getByte(30) ^ 1);
        CaptureFile file = new CaptureFile().syn(true, FIRST - 1).data(true, FIRST, frames.get(0))
                .data(true, FIRST + frames.get(0).readableBytes(), frames.get(1));
        assertEquals(List.of(LINUX_SERVER.get(0), "> malformed frame at byte 32 of the stream: CRC32C is wrong"),
                directions(dump(false, file.bytes())));
    }

    @Test
    void shouldPutTheSegmentsOfASendTogether() throws IOException {
        // No CRC: bytes 0 to 39 in the first FPDU, the others in a second and last one, in one TCP segment.
        ByteBuf call = HexText.parse(CALL);
        ByteBuf fpdus = Unpooled.wrappedBuffer(HexText.parse("003a 0143 00000000 00000000 00000001 00000000"), call.slice(0, 40),
                HexText.parse("00000000"), HexText.parse("002e 4143 00000000 00000000 00000001 00000028"), call.slice(40, 28),
                HexText.parse("00000000"));
        assertEquals(List.of("> v1 RDMA_MSG xid 0000002a credits 32 | CALL NFS v3 READ"),
                directions(dump(false, new CaptureFile().data(true, 1, fpdus).bytes())));
    }

    @ParameterizedTest
    @CsvSource({
        "0012 4143 00000000 00000000 00000001 00000028 00000000, malformed segment: offset 40 in Send 1 (expected: 0)",
        "0012 4143 00000000 00000003 00000001 00000000 00000000, malformed segment: Send to queue 3 (expected: 0)",
        "0012 4143 00000000 00000000 00000001 00000000 00000000, empty Send",
        "0012 4141 00000000 00000001 00000001 00000000 00000000, malformed RDMA Read Request: 0 bytes (expected: 28)",
        "0012 4147 00000000 00000002 00000001 00000000 00000000, malformed Terminate: 0 bytes (at least 4)",
    })
    void shouldSayWhatIsWrongWithASegment(String fpdu, String line) throws IOException {
        assertEquals(List.of("> " + line), directions(dump(true, new CaptureFile().data(true, 1, HexText.parse(fpdu)).bytes())));
    }

    @ParameterizedTest
    @CsvSource({
        "0012 4343, DDP version 3 (known: 1)",
        "0012 4183, RDMAP version 2 (known: 1)",
        "0012 4149, RDMAP opcode 9 (known: 0..7)",
        "0012 c143, RDMAP opcode 3 in a tagged segment",
        "0012 4140, RDMAP opcode 0 in an untagged segment",
        "0011 4143, ULPDU length 17 (at least 18)",
    })
    void shouldSayWhatIsWrongWithAFrameAndGoOnWithTheNextSegment(String start, String fault) throws IOException {
        ByteBuf setup = frames(true).get(0).setByte(16, 0x10); // without CRC
        ByteBuf call = frames(true).get(1);
        CaptureFile file = new CaptureFile().syn(true, 0).data(true, 1, setup).data(true, 33, HexText.parse(start))
                .data(true, 37, call);
        assertEquals(List.of(LINUX_SERVER.get(0).replace(" CRC", ""), "> malformed frame at byte 32 of the stream: " + fault,
                LINUX_SERVER.get(2)), directions(dump(true, file.bytes())));
    }

    @Test
    void shouldSayThatACaptureHasNothingOfIwarp() {
        ByteBuf text = Unpooled.wrappedBuffer("GET / HTTP/1.1\r\nHost: example.org\r\n\r\n".getBytes());
        byte[] capture = new CaptureFile().syn(true, 0).data(true, 1, text).data(true, 500, text).bytes();
        List<String> lines = new ArrayList<>();
        String message = assertThrows(IOException.class,
                () -> new CaptureDump(true, lines::add).show(new ByteArrayInputStream(capture))).getMessage();
        assertEquals("nothing of iWARP is in this capture of 3 packets, 3 of them TCP; over loopback it takes tcpdump -i lo",
                message);
        assertEquals(List.of(), lines);
    }

    @ParameterizedTest
    @CsvSource({
        "0a0d0d0a 00000000, 'a capture in pcapng format; convert it first: editcap -F pcap IN OUT'",
        "d4c3b2a1, 'not a capture in pcap format: 4 bytes, its header has 24'",
        "000000000000000000000000000000000000000000000000, not a capture in pcap format: it begins with 00000000",
        "a1b2c3d400020004000000000000000000040000000000ff, 'a capture with link type 255 (known: Ethernet 1, Linux cooked 113 "
                + "and 276, "
                + "raw IP 101, loopback 0 and 108)'",
        "a1b2c3d40002000400000000000000000004000000000001 00000000, damaged capture: packet 1 at byte 24: the file ends within "
                + "its header",
        "a1b2c3d40002000400000000000000000004000000000001 00000000 00000000 ffffffff ffffffff, damaged capture: packet 1 at "
                + "byte 24: "
                + "4294967295 captured bytes (limit 1048576)",
        "a1b2c3d40002000400000000000000000004000000000001 00000000 00000000 00000004 00000004 0000, damaged capture: packet 1 "
                + "at byte 24: "
                + "the file ends after 2 of 4 bytes",
    })
    void shouldSayWhyAFileCannotBeRead(String digits, String reason) {
        byte[] file = HexText.parse(digits).array();
        assertEquals(reason, assertThrows(IOException.class, () -> dump(true, file)).getMessage());
    }

    @Test
    void shouldSurviveAnyDamageToACapture() throws IOException {
        byte[] file = exchange(new CaptureFile()).bytes();
        Random random = new Random(5);
        int readable = 0;
        for (int round = 0; round < 3000; round++) {
            byte[] damaged = Arrays.copyOf(file, 24 + random.nextInt(file.length - 23));
            for (int i = random.nextInt(8); i >= 0; i--) {
                damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
            }
            try {
                dump(true, damaged);
                readable++;
            } catch (IOException e) {
                assertTrue(e.getMessage().contains("capture"), e.getMessage());
            }
        }
        assertTrue(readable > 10, () -> "some must get past the headers");
    }

    private static List<String> dump(boolean all, byte[] file) throws IOException {
        List<String> lines = new ArrayList<>();
        new CaptureDump(all, lines::add).show(new ByteArrayInputStream(file));
        return lines;
    }

    /** The lines with {@code >} in place of time and addresses where the client sent, and {@code <} where the server did. */
    private static List<String> directions(List<String> lines) {
        return lines.stream().map(line -> (line.contains(":1000 > ") ? "> " : "< ") + line.split(" ", 5)[4]).toList();
    }

    /** Without the other direction another line is the first about version 2. */
    private static String withoutDraft(String line) {
        return line.replace(" (version-two-08)", "");
    }

    static CaptureFile exchange(CaptureFile file) throws IOException {
        int client = FIRST;
        int server = FIRST;
        file.syn(true, FIRST - 1).syn(false, FIRST - 1);
        for (Frame frame : CaptureFile.linuxServer()) {
            file.data(frame.client(), frame.client() ? client : server, frame.bytes());
            if (frame.client()) {
                client += frame.bytes().readableBytes();
            } else {
                server += frame.bytes().readableBytes();
            }
        }
        return file;
    }

    private static List<ByteBuf> frames(boolean client) throws IOException {
        return CaptureFile.linuxServer().stream().filter(frame -> frame.client() == client).map(Frame::bytes).toList();
    }

    private static ByteBuf stream(boolean client) throws IOException {
        return Unpooled.copiedBuffer(frames(client).toArray(ByteBuf[]::new));
    }
}
