package org.nettyrdma.example.nfs.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.nettyrdma.example.nfs.Transport;

class NfsEndpointTest {

    @ParameterizedTest
    @CsvSource({
        "rdma://server/a/b,            RDMA, server,    20049, /a/b",
        "tcp://server/a,               TCP,  server,    2049,  /a",
        "RDMA://server,                RDMA, server,    20049, /",
        "rdma://server:1/,             RDMA, server,    1,     /",
        "tcp://192.0.2.1:65535/x,      TCP,  192.0.2.1, 65535, /x",
        "rdma://[::1]:20050/x,         RDMA, ::1,       20050, /x",
        "tcp://[fe80::1%25lo]:1/,      TCP,  fe80::1%lo, 1,    /",
        "tcp://[fe80::1%lo]:1/,        TCP,  fe80::1%lo, 1,    /",
        "tcp://[fe80::1%25]:1/,        TCP,  fe80::1%25, 1,    /",
        "rdma://[2001:db8::1],         RDMA, 2001:db8::1, 20049, /",
        "tcp://server//a/./b/../c/,    TCP,  server,    2049,  /a/c/",
        "tcp://server/../..,           TCP,  server,    2049,  /",
        "tcp://server/a%20b:c@[d]?e#f, TCP,  server,    2049,  /a%20b:c@[d]?e#f",
    })
    void shouldParseAddresses(String url, Transport transport, String host, int port, String path) {
        assertEquals(new NfsEndpoint(transport, host, port, path), NfsEndpoint.parse(url));
    }

    @ParameterizedTest
    @CsvSource({
        "server:/path,         it must start with rdma:// or tcp://",
        "http://server/,       'http' is neither rdma nor tcp",
        "rdma:///path,         the host is missing",
        "rdma://:20049/,       the host is missing",
        "rdma://server:0/,     port 0 is not between 1 and 65535",
        "rdma://server:65536/, port 65536 is not between 1 and 65535",
        "rdma://server:-1/,    port -1 is not between 1 and 65535",
        "rdma://server:x/,     'x' is not a port number",
        "rdma://server:/,      '' is not a port number",
        "rdma://server:+80/,   '+80' is not a port number",
        "rdma://server:\u0668\u0660/, '\u0668\u0660' is not a port number",
        "rdma://::1/,          an IPv6 address must stand in brackets",
        "rdma://[::1/,         the bracket after the IPv6 address is missing",
        "rdma://[server]/,     'server' is not an IPv6 address",
        "rdma://[::1]1/,       a colon and a port number must follow the IPv6 address",
    })
    void shouldSayWhatIsWrongWithAnAddress(String url, String problem) {
        String message = assertThrows(IllegalArgumentException.class, () -> NfsEndpoint.parse(url)).getMessage();
        assertTrue(message.contains("'" + url + "'"), message);
        assertTrue(message.contains(problem.replace("''", "'")), message);
    }

    @ParameterizedTest
    @CsvSource({"rdma://server:20049/a", "tcp://[::1]:2049/", "tcp://192.0.2.1:1/a/b c", "tcp://192.0.2.1:1/a/",
        "tcp://[fe80::1%25eth0]:1/"})
    void shouldPrintWhatItParses(String url) {
        assertEquals(url, NfsEndpoint.parse(url).toString());
    }

    @Test
    void shouldKnowParentAndName() {
        NfsEndpoint endpoint = NfsEndpoint.parse("rdma://server/a/b");
        assertEquals("b", endpoint.name());
        assertEquals("/a", endpoint.parent().path());
        assertEquals("/", endpoint.parent().parent().parent().path());
        assertEquals("", endpoint.withPath("/").name());
        assertEquals("c", endpoint.withPath("/c/").name());
    }
}
