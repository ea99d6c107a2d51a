package org.nettyrdma.verbs.iwarp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.verbs.WorkCompletionStatus;
import org.nettyrdma.verbs.support.DeliveryRing;
import org.nettyrdma.verbs.support.PowerOfTwo;
import org.nettyrdma.verbs.support.SteeringTag;
import org.nettyrdma.verbs.support.SteeringTagGenerator;
import org.nettyrdma.verbs.support.SteeringTagTable;

/** The small parts that everything else relies on. */
class WireFormatTest {

    /** RFC 3720, appendix B.4 gives these; the CRC goes out with its least significant byte first. */
    @ParameterizedTest
    @CsvSource({
        "313233343536373839, e3069283",
        "0000000000000000000000000000000000000000000000000000000000000000, 8a9136aa",
        "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff, 62a8ab43",
        "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f, 46dd794e",
        "1f1e1d1c1b1a191817161514131211100f0e0d0c0b0a09080706050403020100, 113fdb5c",
    })
    void shouldComputeTheCrcOfTheRfc(String bytes, String crc) {
        CRC32C computed = new CRC32C();
        computed.update(Hex.bytes(bytes));
        assertEquals(crc, String.format("%08x", computed.getValue()));
    }

    @Test
    void shouldPadToAMultipleOfFour() {
        for (int length = 0; length <= FpduLayout.MAX_ULPDU_LENGTH; length++) {
            int pad = FpduLayout.padLength(length);
            assertTrue(pad >= 0 && pad <= 3 && (2 + length + pad) % 4 == 0);
        }
    }

    @Test
    void shouldLeaveRoomForEitherHeaderBeforeTheLargestPayload() {
        assertTrue(OutboundStream.MAX_PAYLOAD_BYTES + UntaggedLayout.HEADER_LENGTH - FpduLayout.ULPDU_OFFSET
                <= FpduLayout.MAX_ULPDU_LENGTH);
    }

    @ParameterizedTest
    @CsvSource({"WRITE,true,c140", "WRITE,false,8140", "READ_REQUEST,true,4141", "READ_RESPONSE,true,c142",
        "READ_RESPONSE,false,8142", "SEND,true,4143", "SEND,false,0143", "SEND_WITH_INVALIDATE,true,4144",
        "SEND_WITH_SOLICITED_EVENT,true,4145", "SEND_WITH_SOLICITED_EVENT_AND_INVALIDATE,false,0146", "TERMINATE,true,4147"})
    void shouldEncodeTheControlBytes(RdmapOpcode opcode, boolean last, String control) {
        short encoded = DdpControl.encode(opcode, last);
        assertEquals(control, String.format("%04x", encoded));
        assertEquals(opcode.isTagged(), DdpControl.isTagged(encoded >> 8));
        assertEquals(last, DdpControl.isLast(encoded >> 8));
        assertTrue(DdpControl.isDdpVersionKnown(encoded >> 8));
        assertTrue(DdpControl.isRdmapVersionKnown(encoded));
    }

    @ParameterizedTest
    @EnumSource
    void shouldFindEveryOpcode(RdmapOpcode opcode) {
        assertEquals(opcode, RdmapOpcode.of(opcode.code()));
        assertNull(RdmapOpcode.of(8));
        assertNull(RdmapOpcode.of(15));
        assertNull(RdmapOpcode.of(-1));
    }

    @ParameterizedTest
    @EnumSource
    void shouldFindEveryReason(TerminateReason reason) {
        assertEquals(reason, TerminateReason.of(reason.layerAndType(), reason.code()));
        assertNull(TerminateReason.of(0x33, 0));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "2002 00 00 |                                           | 2002 | MPA error type 0 code 2 (CRC error)",
        "0202 00 00 |                                           | 0202 | MPA error type 0 code 2 (CRC error)",
        "1100 c0 00 | 0012 c140 12345600 0000000000000000       | 1100 | about WRITE with steering tag 0x12345600",
        "1203 c0 00 | 0012 4143 00000000 00000000 00000001 00000000 | 1203 | about SEND",
        "7777 00 00 |                                           | 7777 | unknown layer 7 error type 7 code 119",
    })
    void shouldReadTerminates(String error, String attached, String number, String text) {
        String ulpdu = "4147 00000000 00000002 00000001 00000000" + error + (attached == null ? "" : attached);
        ByteBuffer in = ByteBuffer.wrap(Hex.bytes("ffff" + "0000" + ulpdu));
        TerminateMessage message = TerminateMessage.decode(in, 2, in.capacity() - 2);
        assertEquals(Integer.parseInt(number, 16), message.vendorError());
        assertTrue(message.describe().contains(text), message.describe());
    }

    @Test
    void shouldCompareTaggedOffsetsAsUnsignedNumbers() {
        SteeringTag tag = new SteeringTag(1, null, 100, 50, 1);
        assertTrue(tag.contains(0, 50));
        assertTrue(tag.contains(50, 0));
        assertFalse(tag.contains(0, 51));
        assertFalse(tag.contains(1, 50));
        assertFalse(tag.contains(-1, 0));
        assertFalse(tag.contains(Long.MIN_VALUE, 1));
        assertFalse(tag.contains(0, 0xFFFF_FFFFL));
        assertTrue(SteeringTag.wraps(-1, 1));
        assertTrue(SteeringTag.wraps(-1, 2));
        assertFalse(SteeringTag.wraps(-2, 1));
        assertFalse(SteeringTag.wraps(-1, 0));
        assertTrue(SteeringTag.wraps(-0xFFFF_FFFFL, 0xFFFF_FFFFL));
        assertEquals(149, tag.regionOffset(49));
    }

    @Test
    void shouldNeverMakeAnIndexOfZeroNorTheSameTagTwice() {
        SteeringTagTable table = new SteeringTagTable(new SteeringTagGenerator());
        Set<Integer> tags = new HashSet<>();
        for (int i = 0; i < 10_000; i++) {
            int tag = table.expose(null, 0, 1, 1).value();
            assertNotEquals(0, tag >>> 8);
            assertTrue(tags.add(tag));
        }
    }

    @Test
    void shouldRoundToPowersOfTwo() {
        assertEquals(0, PowerOfTwo.atMost(0));
        assertEquals(16, PowerOfTwo.atMost(31));
        assertEquals(32, PowerOfTwo.atMost(32));
        assertEquals(1, PowerOfTwo.atLeast(0));
        assertEquals(1, PowerOfTwo.atLeast(1));
        assertEquals(32, PowerOfTwo.atLeast(17));
        assertEquals(32, PowerOfTwo.atLeast(32));
    }

    @Test
    void shouldDeliverInOrderWhileTheQueueGrowsAround() {
        DeliveryRing ring = new DeliveryRing();
        List<Long> delivered = new ArrayList<>();
        long next = 0;
        for (int round = 1; round < 200; round++) {
            for (int i = 0; i < round; i++) {
                long id = next++;
                if (id % 7 == 0) {
                    ring.event(() -> delivered.add(id));
                } else {
                    ring.complete(id, WorkCompletionStatus.SUCCESS, 0, 0);
                }
            }
            ring.deliver((id, status, length, invalidated, tag, error) -> delivered.add(id), round / 2 + 1);
        }
        ring.deliver((id, status, length, invalidated, tag, error) -> delivered.add(id), Integer.MAX_VALUE);
        assertTrue(ring.isEmpty());
        assertEquals(IntStream.range(0, (int) next).mapToObj(i -> (long) i).toList(), delivered);
    }
}
