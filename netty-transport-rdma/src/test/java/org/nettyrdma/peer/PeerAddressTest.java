package org.nettyrdma.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.netty.channel.local.LocalAddress;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PeerAddressTest {

    private static PeerAddress of(String host, int port) throws UnknownHostException {
        return PeerAddress.of(new InetSocketAddress(InetAddress.getByName(host), port));
    }

    @ParameterizedTest
    @CsvSource({
        "192.0.2.1, 192.0.2.1",
        "::ffff:192.0.2.1, 192.0.2.1",
        "2001:db8:1:2::1, 2001:db8:1:2:ffff:ffff:ffff:fffe",
        "fe80::1, fe80::1",
    })
    void shouldBeEqualForPeersOfOneLimit(String one, String other) throws UnknownHostException {
        assertEquals(of(one, 1), of(other, 2));
    }

    @ParameterizedTest
    @CsvSource({
        "192.0.2.1, 192.0.2.2",
        "2001:db8:1:2::1, 2001:db8:1:3::1",
        "fe80::1, fe80::2",
        "::1, 127.0.0.1",
    })
    void shouldDifferForPeersOfTwoLimits(String one, String other) throws UnknownHostException {
        assertNotEquals(of(one, 1), of(other, 1));
    }

    @Test
    void shouldSayWhichAddressesItStandsFor() throws UnknownHostException {
        assertEquals("192.0.2.1", of("192.0.2.1", 1).toString());
        assertEquals("2001:db8:1:2::/64", of("2001:db8:1:2::1", 1).toString());
        assertEquals("::/64", of("::1", 1).toString());
        assertEquals("fe80::1", of("fe80::1", 1).toString());
        assertEquals("fe80::1%7", of("fe80::1%7", 1).toString());
    }

    @Test
    void shouldKnowPeersWithoutAnAddressOfTheInternet() {
        assertEquals(PeerAddress.of(new LocalAddress("here")), PeerAddress.of(new LocalAddress("here")));
        assertNotEquals(PeerAddress.of(new LocalAddress("here")), PeerAddress.of(null));
        assertEquals(PeerAddress.of(null), PeerAddress.of(null));
    }
}
