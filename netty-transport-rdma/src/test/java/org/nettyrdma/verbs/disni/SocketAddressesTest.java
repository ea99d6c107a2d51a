package org.nettyrdma.verbs.disni;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import org.junit.jupiter.api.Test;

class SocketAddressesTest {

    @Test
    void shouldWriteIpv4AsPortAndAddress() throws Exception {
        byte[] expected = {0x4e, 0x51, 10, 0, 2, (byte) 200};
        assertArrayEquals(expected, SocketAddresses.encode(new InetSocketAddress("10.0.2.200", 20049)));
        assertEquals(new InetSocketAddress("10.0.2.200", 20049), SocketAddresses.decode(expected));
    }

    @Test
    void shouldWriteIpv6AsPortAddressAndScope() throws Exception {
        byte[] host = {(byte) 0xfe, (byte) 0x80, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8};
        byte[] expected = {(byte) 0xff, (byte) 0xfe, (byte) 0xfe, (byte) 0x80, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0,
                3};
        InetSocketAddress address = new InetSocketAddress(Inet6Address.getByAddress(null, host, 3), 65534);
        assertArrayEquals(expected, SocketAddresses.encode(address));
        InetSocketAddress decoded = SocketAddresses.decode(expected);
        assertEquals(address, decoded);
        assertEquals(3, ((Inet6Address) decoded.getAddress()).getScopeId());
    }

    @Test
    void shouldReadIpv6WithoutScope() throws Exception {
        InetSocketAddress address = new InetSocketAddress("2001:db8::1", 1);
        assertEquals(address, SocketAddresses.decode(SocketAddresses.encode(address)));
    }

    @Test
    void shouldRefuseWhatIsNoAddress() {
        assertThrows(UnknownHostException.class,
                () -> SocketAddresses.encode(InetSocketAddress.createUnresolved("nowhere.invalid", 1)));
        assertThrows(UnknownHostException.class, () -> SocketAddresses.encode(null));
        assertThrows(IOException.class, () -> SocketAddresses.decode(new byte[7]));
        assertThrows(IOException.class, () -> SocketAddresses.decode(new byte[0]));
    }
}
