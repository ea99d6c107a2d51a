package org.nettyrdma.streamtests.frameworks;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.simulacron.common.cluster.ClusterSpec;
import com.datastax.oss.simulacron.common.stubbing.PrimeDsl;
import com.datastax.oss.simulacron.server.BoundCluster;
import com.datastax.oss.simulacron.server.Inet4Resolver;
import com.datastax.oss.simulacron.server.Server;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;
import org.nettyrdma.channel.RdmaServerStreamChannel;

/** Against a server that is made for tests of this driver. */
class CassandraDriverTest extends Framework {

    private static final int PORT = 9042;

    @Test
    void shouldCarryRows() {
        try (Server server = Server.builder().withEventLoopGroup(group, RdmaServerStreamChannel.class)
                .withAddressResolver(new Inet4Resolver(ownAddress(), PORT)).build();
                BoundCluster cluster = server.register(ClusterSpec.builder().withNodes(1))) {
            cluster.prime(PrimeDsl.when("SELECT a FROM b").then(PrimeDsl.rows().row("a", text).columnTypes("a", "varchar")));
            InetSocketAddress serverAddress = cluster.node(0).inetSocketAddress();
            CqlSession session = new RdmaCqlSessionBuilder(group)
                    .addContactPoint(serverAddress)
                    .withLocalDatacenter("dc1")
                    .build();
            try {
                assertEquals(text, session.execute("SELECT a FROM b").one().getString("a"));
            } finally {
                session.close();
            }
        }
    }

    /** The driver's server has a fixed port: an address that no other process on this machine has. */
    private static byte[] ownAddress() {
        long process = ProcessHandle.current().pid();
        return new byte[] {127, (byte) (process >> 16 | 64), (byte) (process >> 8), (byte) process};
    }
}
