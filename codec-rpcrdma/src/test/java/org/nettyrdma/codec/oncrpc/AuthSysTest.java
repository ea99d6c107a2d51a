package org.nettyrdma.codec.oncrpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.nettyrdma.codec.oncrpc.Hex.dump;
import static org.nettyrdma.codec.oncrpc.Hex.hex;

import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Bodies of AUTH_SYS credentials as RFC 5531, appendix A, writes them. */
class AuthSysTest {

    private static final String BODY = "00000007 00000005 686f7374 31000000 ffffffff 00000064 00000002 00000004 00000018";
    private static final AuthSys DECODED = new AuthSys(7, "host1", -1, 100, List.of(4, 24));

    @Test
    void shouldReadABody() {
        assertEquals(DECODED, AuthSys.from(credential(BODY)));
        assertEquals(new AuthSys(0, "", 0, 0, List.of()),
                AuthSys.from(credential("00000000 00000000 00000000 00000000 00000000")));
    }

    @Test
    void shouldWriteABody() {
        OpaqueAuth credential = DECODED.toOpaqueAuth();
        assertEquals(1, credential.flavor());
        assertEquals(dump(hex(BODY)), dump(Unpooled.wrappedBuffer(credential.body())));
    }

    @Test
    void shouldDecodeACredentialOnce() {
        OpaqueAuth credential = credential(BODY);
        assertSame(AuthSys.from(credential), AuthSys.from(credential));
    }

    @Test
    void shouldKeepToTheLimits() {
        AuthSys largest = new AuthSys(-1, "m".repeat(255), -1, -1, Collections.nCopies(16, -1));
        assertEquals(largest, AuthSys.from(largest.toOpaqueAuth()));
        assertThrows(IllegalArgumentException.class, () -> new AuthSys(0, "m".repeat(256), 0, 0, List.of()));
        assertThrows(IllegalArgumentException.class, () -> new AuthSys(0, "\u00e9".repeat(128), 0, 0, List.of()));
        assertThrows(IllegalArgumentException.class, () -> new AuthSys(0, "", 0, 0, Collections.nCopies(17, 0)));
    }

    @Test
    void shouldRefuseBodiesOverTheLimits() {
        assertThrows(XdrException.class, () -> AuthSys.from(
                credential("00000000 00000100" + "6d".repeat(256) + "00000000 00000000 00000000")));
        assertThrows(XdrException.class, () -> AuthSys.from(
                credential("00000000 00000000 00000000 00000000 00000011" + "00".repeat(68))));
        for (String hostile : new String[] {"ffffffff", "80000000", "7fffffff"}) {
            assertThrows(XdrException.class, () -> AuthSys.from(credential("00000000" + hostile + "00".repeat(100))));
            assertThrows(XdrException.class, () -> AuthSys.from(
                    credential("00000000 00000000 00000000 00000000" + hostile + "00".repeat(100))));
        }
    }

    @Test
    void shouldRefuseEveryTruncationAndWhatIsTooLong() {
        int length = hex(BODY).readableBytes();
        for (int i = 0; i < length; i++) {
            OpaqueAuth truncated = new OpaqueAuth(1, ByteBufUtil.getBytes(hex(BODY), 0, i));
            assertThrows(XdrException.class, () -> AuthSys.from(truncated), "length " + i);
        }
        assertThrows(XdrException.class, () -> AuthSys.from(credential(BODY + "00000000")));
    }

    @Test
    void shouldRefuseOtherFlavors() {
        assertThrows(IllegalArgumentException.class, () -> AuthSys.from(OpaqueAuth.NONE));
    }

    private static OpaqueAuth credential(String body) {
        return new OpaqueAuth(AuthFlavor.AUTH_SYS.code(), ByteBufUtil.getBytes(hex(body)));
    }
}
