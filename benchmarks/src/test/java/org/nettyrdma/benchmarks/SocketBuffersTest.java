package org.nettyrdma.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class SocketBuffersTest {

    @Test
    void shouldFindTheSendBuffersOfBothEnds() {
        String listing = """
                0 0 127.0.0.1:40000 127.0.0.1:50000
                \t skmem:(r0,rb131072,t0,tb524288,f0,w0,o0,bl0,d0)
                0 0 [::ffff:127.0.0.1]:50000 [::ffff:127.0.0.1]:40000
                \t skmem:(r0,rb6291456,t0,tb4194304,f4096,w0,o0,bl0,d0)
                """;
        assertEquals("send buffers of both ends at the end (bytes): 524288 and 4194304", SocketBuffers.text(listing));
    }

    @Test
    void shouldSayNothingOfNoConnections() {
        assertEquals("", SocketBuffers.text(""));
    }
}
