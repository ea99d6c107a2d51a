package org.nettyrdma.testing.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The programs that meet those in C, with each other. */
class StreamServersTest {

    private final StreamTransport transport = StreamTransport.rdma();
    private final BlockingQueue<String> log = new LinkedBlockingQueue<>();
    private final StreamServers servers = new StreamServers(transport, log::add);
    private final StreamClients clients = new StreamClients(transport);

    @AfterEach
    void end() throws InterruptedException {
        transport.loops().shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
    }

    private String nextLine() throws InterruptedException {
        String line = log.poll(30, TimeUnit.SECONDS);
        assertTrue(line != null, "the server has said nothing");
        return line;
    }

    @Test
    void shouldTakeTurnsAndVerify() throws Exception {
        List<TransferSize> sizes = List.of(new TransferSize(64, 100, 2, true), new TransferSize(5001, 7, 3, true),
                new TransferSize(4096, 64, 2, true), new TransferSize(1 << 20, 2, 1, true),
                new TransferSize(3000, 50, 2, false));
        InetSocketAddress server = servers.rstream(StreamServers.address("127.0.0.1", 0), sizes);
        for (TransferSize size : sizes) {
            assertTrue(clients.rstream(server, size) > 0);
            assertTrue(nextLine().startsWith("rstream " + size + " passed "));
        }
    }

    @Test
    void shouldExchangeBothWaysAtOnce() throws Exception {
        InetSocketAddress server = servers.exchange(StreamServers.address("127.0.0.1", 0), 3_000_000);
        String[] client = clients.exchange(server, 3_000_001, 0).split(" ");
        String[] peer = nextLine().split(" ");
        // "sent BYTES CHECKSUM received BYTES CHECKSUM", and of the server the same behind two words.
        assertEquals(client[2], peer[7]);
        assertEquals(client[5], peer[4]);
        assertEquals("3000001 3000000", client[1] + ' ' + client[4]);
    }

    @Test
    void shouldEndItsDirectionAfterWhatItExpects() throws Exception {
        InetSocketAddress server = servers.exchange(StreamServers.address("127.0.0.1", 0), 1_000_000);
        assertTrue(clients.exchange(server, 1_000_000, 1_000_000).startsWith("sent 1000000 "));
        assertTrue(nextLine().contains(" received 1000000 "));
    }
}
