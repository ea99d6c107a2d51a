package org.nettyrdma.example.nfs.dump;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MessageTextTest {

    private static final String NFS_READ =
            "0000002a 00000000 00000002 000186a3 00000003 00000006 0000000000000000 0000000000000000";
    private static final Pattern WIRE = Pattern.compile("\"wire\": \\[(.*?)\\n      \\]", Pattern.DOTALL);
    private static final Pattern DIGITS = Pattern.compile("\\[\"([0-9a-f]*)\", ");

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "0000002a 00000001 00000020 00000000 00000000 00000000 00000000 " + NFS_READ
                + " | v1 RDMA_MSG xid 0000002a credits 32 ! CALL NFS v3 READ",
        "0000002a 00000001 00000020 00000002 00000008 00000400 00000000 00000000 00000000 " + NFS_READ
                + " | v1 RDMA_MSGP xid 0000002a credits 32 align 8 threshold 1024 ! CALL NFS v3 READ",
        "0000002a 00000001 00000020 00000000 00000000 00000001 00000001 00000a11 00001000 0000000100000000 00000000 00000000 "
        + NFS_READ
                + " | v1 RDMA_MSG xid 0000002a credits 32 write [00000a11:4096@100000000] ! CALL NFS v3 READ",
        "0000002a 00000001 00000020 00000001 00000001 00000000 00000a11 00000800 00000000c0000000 00000001 00000000 00000a12 "
                + "00000010 "
                + "0000000000000000 00000000 00000000 00000001 00000001 00000a13 00000040 ffffffff00000000"
                + " | v1 RDMA_NOMSG xid 0000002a credits 32 read at 0 [00000a11:2048@c0000000 00000a12:16@0] reply "
                + "[00000a13:64@ffffffff00000000]",
        "0000002a 00000001 00000020 00000003 | v1 RDMA_DONE xid 0000002a credits 32",
        "0000002a 00000002 00000020 00000004 00000001 00000001 00000001 | v2 (version-two-08) RDMA2_ERROR xid 0000002a credits "
                + "32 ERR_VERS 1 to 1",
        "0000002a 00000001 00000020 00000004 00000002 | v1 RDMA_ERROR xid 0000002a credits 32 ERR_CHUNK",
        "0000002a 00000002 00000020 00000000 00000001 00000a11 00000000 00000000 00000000 0000002a 00000001 00000000 "
                + "0000000000000000 00000000"
                + " | v2 (version-two-08) RDMA2_MSG xid 0000002a credits 32 flags RESPONSE invalidate 00000a11 ! REPLY SUCCESS",
        "0000002a 00000002 00000020 00000004 00000001 00000007 00000002 00001234"
                + " | v2 (version-two-08) RDMA2_ERROR xid 0000002a credits 32 flags RESPONSE RDMA2_ERR_WRITE_RESOURCE "
                + "(rdma_chunk_index 2, rdma_length_needed 4660)",
        "0000002a 00000002 00000020 00000005 80000000 00000002 00000001 00000004 00002000 00000063 00000003 61626300"
                + " | v2 (version-two-08) RDMA2_CONNPROP xid 0000002a credits 32 flags 0x80000000 properties [Receive Buffer "
                + "Size 8192, property 99 of 3 bytes]",
        "0000002a 00000001 00000020 00000000 00000000 00000000 00000000 0000002b 00000001 00000001 00000001 00000001"
                + " | v1 RDMA_MSG xid 0000002a credits 32 ! malformed: RPC xid 0000002b, REPLY denied, AUTH_ERROR AUTH_BADCRED",
        "0000002a 00000001 00000020 00000000 00000000 00000000 00000000 0000002a 00000000 00000002 000186a5 00000003 00000001"
                + " | v1 RDMA_MSG xid 0000002a credits 32 ! CALL MOUNT v3 MNT",
        "0000002a 00000001 00000020 00000000 00000000 00000000 00000000 0000002a 00000000 00000002 40000000 00000001 00000009"
                + " | v1 RDMA_MSG xid 0000002a credits 32 ! CALL program 1073741824 v1 procedure 9",
    })
    void shouldSayWhatAHeaderSays(String digits, String line) {
        assertEquals(line.replace('!', '|'), new MessageText().describe(HexText.parse(digits)));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "0000002a 00000001 | malformed: fixed part of the header needs 16 bytes, 8 are left, at byte 0 of 8",
        "0000002a 00000001 00000020 00000000 00000002 | v1 xid 0000002a malformed: Read list: presence word 2 (expected: 0..1), "
                + "at byte 20 of 20",
        "0000002a 00000002 00000020 00000000 00 | v2 (version-two-08) xid 0000002a malformed: flags needs 4 bytes, 1 are left, "
                + "at byte 16 of 17",
        "0000002a 00000001 00000020 00000000 00000000 00000001 7fffffff | v1 xid 0000002a malformed: "
                + "Write chunk of 2147483647 segments (limit: 1024, RpcRdmaLimits.maxSegmentsPerChunk), at byte 28 of 28",
        "0000002a 00000001 00000020 00000000 00000000 00000000 00000000 | v1 RDMA_MSG xid 0000002a credits 32 ! no RPC message",
        "0000002a 00000001 00000020 00000000 00000000 00000000 00000000 0000002a 00000007"
                + " | v1 RDMA_MSG xid 0000002a credits 32 ! malformed RPC message: message type 7",
    })
    void shouldSayWhatIsWrongAndWhere(String digits, String line) {
        assertEquals(line.replace('!', '|'), new MessageText().describe(HexText.parse(digits)));
    }

    @Test
    void shouldNameTheDraftOnce() {
        MessageText messages = new MessageText();
        String properties = "00000000 00000002 00000020 00000005 00000000 00000000";
        assertEquals("v2 (version-two-08) RDMA2_CONNPROP xid 00000000 credits 32 flags 0 properties []",
                messages.describe(HexText.parse(properties)));
        assertEquals("v2 RDMA2_CONNPROP xid 00000000 credits 32 flags 0 properties []",
                messages.describe(HexText.parse(properties)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"v1", "v2-messages", "v2-errors", "v2-properties", "v2-bad-input", "v2-characteristics"})
    void shouldDescribeEveryTestVectorAndAllTruncationsInOneLine(String file) throws IOException {
        List<String> vectors = vectors(file);
        assertTrue(vectors.size() > 10, file);
        MessageText messages = new MessageText();
        for (String digits : vectors) {
            for (int length = 0; length <= digits.length(); length += 2) {
                String line = messages.describe(HexText.parse(digits.substring(0, length)));
                assertEquals(1, line.lines().count(), line);
                assertTrue(length < 32 || line.contains("xid " + digits.substring(0, 8)), line);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"0g,'''g'' is no hexadecimal digit'", "000,an odd number of hexadecimal digits: 3"})
    void shouldRefuseWhatAreNoDigits(String digits, String reason) {
        assertEquals(reason, assertThrows(IllegalArgumentException.class, () -> HexText.parse(digits)).getMessage());
    }

    private static List<String> vectors(String file) throws IOException {
        List<String> vectors = new ArrayList<>();
        try (InputStream in = MessageTextTest.class.getResourceAsStream("/vectors/" + file + ".json")) {
            Matcher wire = WIRE.matcher(new String(in.readAllBytes(), StandardCharsets.UTF_8));
            while (wire.find()) {
                StringBuilder digits = new StringBuilder();
                DIGITS.matcher(wire.group(1)).results().forEach(field -> digits.append(field.group(1)));
                vectors.add(digits.toString());
            }
        }
        return vectors;
    }
}
