package org.nettyrdma.codec.oncrpc.rpcbind;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UniversalAddressTest {

    @Test
    void shouldSplitThePortIntoItsBytes() throws Exception {
        UniversalAddress address = UniversalAddress.parse("192.0.2.7.78.81");
        assertArrayEquals(new byte[] {(byte) 192, 0, 2, 7}, address.address().getAddress());
        assertEquals(20049, address.port());
        assertFalse(address.isIpv6());
        assertEquals(new InetSocketAddress("192.0.2.7", 20049), address.toSocketAddress());
    }

    @Test
    void shouldParseIpv6() throws Exception {
        UniversalAddress address = UniversalAddress.parse("2001:db8::7.8.1");
        assertEquals(InetAddress.getByName("2001:db8::7"), address.address());
        assertEquals(2049, address.port());
        assertTrue(address.isIpv6());
    }

    @Test
    void shouldKeepAnIpv4AddressThatIsMappedIntoIpv6() {
        UniversalAddress address = UniversalAddress.parse("::ffff:192.0.2.7.8.1");
        assertTrue(address.isIpv6());
        assertEquals(16, address.address().getAddress().length);
        assertEquals(2049, address.port());
    }

    @ParameterizedTest
    @ValueSource(strings = {"0.0.0.0.78.81", "255.255.255.255.255.255", "127.0.0.1.0.111", "10.0.0.1.0.0", "::.78.81", "::1.8.1",
        "2001:db8::7.8.1", "fe80::1.255.255", "1:2:3:4:5:6:7:8.0.1"})
    void shouldWriteWhatItParsed(String text) {
        assertEquals(text, UniversalAddress.parse(text).toString());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ".", "..", "1.2", "1.2.3.4.5", "1.2.3.4.5.6.7", "1.2.3.256.5.6", "1.2.3.4.256.6", "1.2.3.4.5.256",
        "1.2.3.4.05.6", "01.2.3.4.5.6", "1.2.3.4.5.", "1.2.3.4..6", ".2.3.4.5.6", "1..3.4.5.6", "-1.2.3.4.5.6", "1.2.3.+4.5.6",
        "1.2.3.4.5.6 ", " 1.2.3.4.5.6", "1.2.3.4.5.x", "localhost.1.2", "0x7f.0.0.1.1.2", "1.2.3.1000.5.6", "::1", "::1.5",
        "::1::.5.6",
        "[::1].5.6", "fe80::1%1.5.6", ":::.5.6", "g::.5.6", "/run/rpcbind.sock", "1.2.3.\u0664.5.6", "\uff11.2.3.4.5.6"})
    void shouldRefuseWhatIsNoAddress(String text) {
        String message = assertThrows(IllegalArgumentException.class, () -> UniversalAddress.parse(text)).getMessage();
        assertTrue(message.contains("'" + text + "'"), message);
    }

    @Test
    void shouldRefuseLongTextWithoutRepeatingIt() {
        String message = assertThrows(IllegalArgumentException.class, () -> UniversalAddress.parse("1".repeat(54))).getMessage();
        assertEquals("universal address of 54 characters, limit 53", message);
    }

    @Test
    void shouldLeaveTheScopeOut() throws Exception {
        byte[] linkLocal = InetAddress.getByName("fe80::1").getAddress();
        assertEquals("fe80::1.8.1", new UniversalAddress(Inet6Address.getByAddress(null, linkLocal, 1), 2049).toString());
    }

    @Test
    void shouldRefuseAPortOutOfRangeAndAnUnresolvedAddress() {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        assertThrows(IllegalArgumentException.class, () -> new UniversalAddress(loopback, 65536));
        assertThrows(IllegalArgumentException.class, () -> new UniversalAddress(loopback, -1));
        InetSocketAddress unresolved = InetSocketAddress.createUnresolved("host", 1);
        assertThrows(IllegalArgumentException.class, () -> UniversalAddress.of(unresolved));
    }

    @Test
    void shouldNameTheTransportOfAnAddress() throws Exception {
        InetAddress ipv6 = InetAddress.getByName("::1");
        InetAddress ipv4 = InetAddress.getByName("127.0.0.1");
        assertEquals("rdma", Netid.rdma(ipv4).toString());
        assertEquals("rdma6", Netid.rdma(ipv6).toString());
        assertEquals("tcp", Netid.tcp(ipv4).toString());
        assertEquals("tcp6", Netid.tcp(ipv6).toString());
        UniversalAddress address = new UniversalAddress(ipv6, 1);
        assertThrows(IllegalArgumentException.class, () -> new RpcbindEntry(100003, 3, Netid.RDMA, address));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a b", "tcp\n", "\u00fcdp"})
    void shouldRefuseWhatIsNoNetid(String name) {
        assertThrows(IllegalArgumentException.class, () -> new Netid(name));
    }

    @Test
    void shouldLimitTheLengthOfANetid() {
        assertEquals(128, new Netid("x".repeat(128)).name().length());
        String tooLong = "x".repeat(129);
        assertThrows(IllegalArgumentException.class, () -> new Netid(tooLong));
    }
}
