package org.nettyrdma.verbs.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.netty.channel.unix.DomainSocketAddress;
import java.io.IOException;
import java.net.BindException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.UnixDomainSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ShmAddressesTest {

    @TempDir
    private Path temporary;

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

    /** Nobody could connect to it. */
    @Test
    void shouldRefuseToListenAtAnAddressOfAnotherHost() throws IOException {
        try (ShmSide side = new ShmSide(new ShmProvider())) {
            var address = new InetSocketAddress("192.0.2.1", 0); // of documents, RFC 5737
            BindException refused = assertThrows(BindException.class, () -> side.listen(address));
            assertEquals("Cannot assign requested address: /192.0.2.1:0 is not an address of this host", refused.getMessage());
        }
    }

    /** Nothing that shows the ports of the system shows this one. */
    @Test
    void shouldNameTheFileByWhichAnAddressIsTaken() throws IOException {
        Path shared = temporary.resolve("shm");
        try (ShmSide side = new ShmSide(new ShmProvider(new ShmSettings(shared, Set.of())))) {
            SocketAddress address = side.listen();
            BindException refused = assertThrows(BindException.class, () -> side.listen(address));
            assertEquals("Address already in use: " + address + " by " + shared + "/port-127.0.0.1-"
                    + ((InetSocketAddress) address).getPort(), refused.getMessage());
        }
    }

    /** A client may say what it likes, but has as much choice over TCP. */
    @Test
    void shouldBelieveWhichAddressWasAskedOnlyWhereTheListenerHasIt() throws IOException {
        var all = new InetSocketAddress("0.0.0.0", 2049);
        for (String possible : new String[] {"127.0.0.1", "127.1.2.3", "::1", "::1%lo", "::ffff:127.0.0.1"}) {
            var expected = new InetSocketAddress(InetAddress.getByName(possible.replace("%lo", "")), 2049);
            assertEquals(expected, ShmAddresses.asked(all, possible));
        }
        for (String impossible : new String[] {"", "192.0.2.1", "2001:db8::1", "0.0.0.0", "::", "localhost", "127.0.0.256", ":",
                "%", "[", "127.0.0.1\0", "9".repeat(255)}) {
            assertEquals(all, ShmAddresses.asked(all, impossible));
        }
        var one = new InetSocketAddress("127.0.0.2", 2049);
        assertEquals(one, ShmAddresses.asked(one, "127.0.0.1"));
        var path = new DomainSocketAddress("/run/socket");
        assertEquals(path, ShmAddresses.asked(path, "127.0.0.1"));
    }

    /** What Netty's own transports have room for in such an address, and a path has not. */
    @Test
    void shouldRefuseAbstractNames() throws IOException {
        try (ShmSide side = new ShmSide(new ShmProvider())) {
            var address = new DomainSocketAddress("\0name");
            String expected = "not the path of a socket: Nul character not allowed; abstract names are not supported";
            assertEquals(expected, assertThrows(SocketException.class, () -> side.listen(address)).getMessage());
            assertEquals(expected, assertThrows(SocketException.class, () -> side.connect(address, 0)).getMessage());
        }
    }

    /** Linux has room for one byte more than Java, which then refuses each attempt, in words like those for a full backlog. */
    @Test
    void shouldRefuseAPathThatIsTooLongForASocket() throws IOException {
        Path longest = temporary.resolve("s".repeat(106 - temporary.toString().length() - 1));
        Path longer = Path.of(longest + "s");
        String expected = "the path of a socket has 107 bytes (limit: 106): " + longer;
        try (ShmSide server = new ShmSide(new ShmProvider()); ShmSide client = new ShmSide(new ShmProvider())) {
            server.listen(UnixDomainSocketAddress.of(longest));
            Files.createSymbolicLink(longer, longest);
            for (SocketAddress address : List.of(UnixDomainSocketAddress.of(longer),
                    new DomainSocketAddress(longer.toString()))) {
                assertEquals(expected, assertThrows(SocketException.class, () -> client.connect(address, 0)).getMessage());
                assertEquals(expected, assertThrows(SocketException.class, () -> client.listen(address)).getMessage());
            }
            client.connect(UnixDomainSocketAddress.of(longest), 0);
        }
    }
}
