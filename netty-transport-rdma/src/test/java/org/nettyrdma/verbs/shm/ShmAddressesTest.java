package org.nettyrdma.verbs.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import org.junit.jupiter.api.Test;

class ShmAddressesTest {

    /** The system tells the addresses of this host with their interface, and a client in another network knows another one. */
    @Test
    void shouldGiveAnAddressTheSameNameOnEachInterface() throws UnknownHostException {
        byte[] bytes = InetAddress.getByName("fd00::2").getAddress();
        InetAddress plain = InetAddress.getByAddress(bytes);
        InetAddress scoped = Inet6Address.getByAddress(null, bytes, 2);
        assertNotEquals(plain.getHostAddress(), scoped.getHostAddress());
        assertEquals(ShmAddresses.name(plain), ShmAddresses.name(scoped));
        assertEquals("fd00:0:0:0:0:0:0:2", ShmAddresses.name(scoped));
        assertEquals("127.0.0.1", ShmAddresses.name(InetAddress.getByName("127.0.0.1")));
    }
}
