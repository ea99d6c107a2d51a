package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import java.io.IOException;
import java.net.NetworkInterface;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.nettyrdma.channel.RdmaChannelStatistics.Counter;
import org.nettyrdma.testing.RequiresRdmaDevice;
import org.nettyrdma.testkit.Endpoint;
import org.nettyrdma.testkit.TransportFixture;
import org.nettyrdma.verbs.VerbsProvider;

/**
 * A device that leaves the machine and comes back, by the command {@code rdma} of iproute2: needs root, and
 * {@code -Drdma.software=rxe} or {@code siw}, the driver of the kernel that {@code -Drdma.address} belongs to. Those let a device
 * go only when nobody has it open any more. librdmacm closes a removed device only when it finds another one, so there is a
 * second one, which the provider must not use: {@code -Dorg.nettyrdma.disni.address}.
 */
@RequiresRdmaDevice
@EnabledIfSystemProperty(named = DeviceRemovalTest.DRIVER_PROPERTY, matches = "rxe|siw")
class DeviceRemovalTest extends TransportFixture {

    static final String DRIVER_PROPERTY = "rdma.software";

    private final String driver = System.getProperty(DRIVER_PROPERTY);

    @Override
    protected VerbsProvider provider() {
        return Rdma.provider("disni");
    }

    private static Process rdma(String... words) throws IOException {
        String[] command = new String[words.length + 1];
        command[0] = "rdma";
        System.arraycopy(words, 0, command, 1, words.length);
        return new ProcessBuilder(command).inheritIO().start();
    }

    private static void awaitSuccess(Process process) throws InterruptedException {
        assertTrue(process.waitFor(Endpoint.TIMEOUT_SECONDS, TimeUnit.SECONDS), "not done: " + process.info());
        assertEquals(0, process.exitValue());
    }

    /** Writes until the channel has gone; the future of a write that failed. */
    private static ChannelFuture writeUntilTheEnd(Endpoint from) throws Exception {
        while (true) {
            ChannelFuture future = from.send("traffic");
            if (!future.await(Endpoint.TIMEOUT_SECONDS, TimeUnit.SECONDS) || future.cause() != null) {
                return future;
            }
        }
    }

    @Test
    void shouldCloseChannelsWithTheCauseAndServeAgainWhenTheDeviceIsBack() throws Exception {
        awaitSuccess(rdma("link", "add", "second0", "type", "siw", "netdev", "lo"));
        Connection connection = connect();
        Endpoint client = connection.client();
        Channel server = connection.server().channel().parent();
        client.send("before");
        assertEquals("before", connection.server().awaitText());
        ByteBuf kept = ByteBufUtil.writeUtf8(client.channel().alloc(), "registered before");

        Process removal = rdma("link", "delete", driver + "0");
        assertTrue(writeUntilTheEnd(client).isDone());
        for (Endpoint end : new Endpoint[] {client, connection.server()}) {
            end.awaitInactive();
            assertEquals("the RDMA device " + driver + "0 was removed", end.awaitCause().getMessage());
            assertEquals(0, end.count(Counter.BUFFERS_LEAKED_ON_PURPOSE));
        }
        Endpoint.await(server.closeFuture());
        awaitSuccess(removal); // nothing of this process has the device open

        assertInstanceOf(IOException.class, Endpoint.awaitFailure(serverBootstrap().bind(LOOPBACK, 0)));
        awaitSuccess(rdma("link", "add", driver + "0", "type", driver, "netdev",
                NetworkInterface.getByInetAddress(LOOPBACK).getName()));
        Connection again = connect();
        Endpoint.await(again.client().channel().writeAndFlush(kept));
        assertEquals("registered before", again.server().awaitText());
        assertEquals(0, again.client().count(Counter.COPIED_BYTES));
    }
}
