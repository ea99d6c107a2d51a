package org.nettyrdma.example.nfs.protocol;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;

class NameTextTest {

    private static byte[] bytes(int... values) {
        byte[] bytes = new byte[values.length];
        for (int i = 0; i < values.length; i++) {
            bytes[i] = (byte) values[i];
        }
        return bytes;
    }

    @Test
    void shouldMakeTheSameBytesAgain() {
        for (int seed = 0; seed < 10_000; seed++) {
            Random random = new Random(seed);
            byte[] name = new byte[random.nextInt(12)];
            for (int i = 0; i < name.length; i++) { // from few leading bytes, so that many sequences are nearly characters
                name[i] = (byte) (random.nextBoolean() ? 0x80 | random.nextInt(0x80) : 0xE0 | random.nextInt(0x14));
            }
            assertArrayEquals(name, NameText.encode(NameText.decode(name)), "seed " + seed);
        }
    }

    @Test
    void shouldKeepWhatIsUtf8() {
        for (String text : new String[] {"", "plain", "grün", "文件", "\uD83D\uDE00", "\uFFFD", "\uD7FF\uE000"}) {
            assertEquals(text, NameText.decode(text.getBytes(StandardCharsets.UTF_8)));
            assertArrayEquals(text.getBytes(StandardCharsets.UTF_8), NameText.encode(text));
        }
    }

    @Test
    void shouldEscapeEachByteThatIsNoCharacter() {
        assertEquals("gr\uDCFCn", NameText.decode(bytes('g', 'r', 0xFC, 'n')), "ISO 8859-1");
        assertEquals("\uDCC0\uDCAF", NameText.decode(bytes(0xC0, 0xAF)), "an overlong slash");
        assertEquals("\uDCED\uDCB2\uDC80", NameText.decode(bytes(0xED, 0xB2, 0x80)), "what an escape would be in UTF-8");
        assertEquals("a\uDCE6\uDC96", NameText.decode(bytes('a', 0xE6, 0x96)), "a character that is cut off");
        assertNotEquals(NameText.decode(bytes(0xE4)), NameText.decode(bytes(0xE5)));
    }

    @Test
    void shouldRefuseSurrogatesThatStandForNoByte() {
        for (String text : new String[] {"\uD83D", "\uDC00", "\uDC7F", "\uDD00", "a\uD83Db"}) {
            assertThrows(IllegalArgumentException.class, () -> NameText.encode(text));
        }
    }
}
