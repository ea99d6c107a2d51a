package org.nettyrdma.codec.oncrpc.rpcbind;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.nio.NioEventLoopGroup;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.codec.oncrpc.RpcClient;

/** The client against rpcbind of libtirpc. */
@Timeout(120)
class RealRpcbindTest {

    private final NioEventLoopGroup group = new NioEventLoopGroup(1);

    @AfterEach
    void stop() {
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 4})
    void shouldRegisterAndLookUpRdma(int version) throws Exception {
        try (PrivateRpcbind rpcbind = PrivateRpcbind.start()) {
            Channel channel = RpcbindClient.connectLocal(group, rpcbind.socket()).sync().channel();
            RpcbindClient client = new RpcbindClient(channel.pipeline().get(RpcClient.class), version);

            UniversalAddress any = new UniversalAddress(InetAddress.getByName("0.0.0.0"), 20049);
            UniversalAddress any6 = new UniversalAddress(InetAddress.getByName("::"), 20049);
            assertTrue(get(client.set(new RpcbindEntry(100003, 3, Netid.RDMA, any))));
            assertTrue(get(client.set(new RpcbindEntry(100003, 3, Netid.RDMA6, any6))));
            assertTrue(get(client.set(new RpcbindEntry(100003, 3, Netid.RDMA, any))), "the same once more");
            UniversalAddress other = new UniversalAddress(any.address(), 20050);
            assertFalse(get(client.set(new RpcbindEntry(100003, 3, Netid.RDMA, other))), "another address");

            String listed = rpcbind.rpcinfo();
            assertTrue(listed.contains(" 100003 3 rdma 0.0.0.0.78.81 nfs superuser\n"), listed);
            assertTrue(listed.contains(" 100003 3 rdma6 ::.78.81 nfs superuser\n"), listed);
            assertEquals(Optional.of(any), get(client.find(100003, 3, Netid.RDMA)).map(RpcbindEntry::universalAddress));
            assertEquals(Optional.of(any6), get(client.find(100003, 3, Netid.RDMA6)).map(RpcbindEntry::universalAddress));
            assertTrue(get(client.dump()).contains(new RpcbindEntry(100000, 4, Netid.TCP, "0.0.0.0.0.111", "superuser")));

            assertTrue(get(client.unset(100003, 3, Netid.RDMA)));
            assertTrue(get(client.unset(100003, 3, Netid.RDMA)), "once more");
            assertEquals(Optional.empty(), get(client.find(100003, 3, Netid.RDMA)));
            assertTrue(get(client.find(100003, 3, Netid.RDMA6)).isPresent());
            assertFalse(rpcbind.rpcinfo().contains(" rdma 0"));
            channel.close().sync();
        }
    }

    @Test
    void shouldAskForAddressesAndTheTime() throws Exception {
        try (PrivateRpcbind rpcbind = PrivateRpcbind.start()) {
            Channel channel = RpcbindClient.connectLocal(group, rpcbind.socket()).sync().channel();
            RpcbindClient client = new RpcbindClient(channel.pipeline().get(RpcClient.class));

            UniversalAddress nfs = new UniversalAddress(InetAddress.getByName("127.0.0.1"), 2049);
            assertTrue(get(client.set(new RpcbindEntry(100003, 3, Netid.TCP, nfs))));
            // This question came by the netid "local".
            assertEquals(Optional.empty(), get(client.address(100003, 3)));
            assertEquals(Optional.empty(), get(client.versionAddress(100003, 3)));
            assertTrue(rpcbind.rpcinfo("-p").contains(" 100003 3 tcp 2049 nfs\n"), "known to the old portmapper too");
            assertTrue(Duration.between(get(client.time()), Instant.now()).abs().toSeconds() < 60);
            channel.close().sync();
        }
    }

    @Test
    void shouldFailToConnectWhereNoRpcbindRuns(@TempDir Path directory) throws Exception {
        ChannelFuture connected = RpcbindClient.connectLocal(group, directory.resolve("rpcbind.sock")).await();
        assertInstanceOf(IOException.class, connected.cause());
    }

    private static <T> T get(CompletableFuture<T> result) throws Exception {
        return result.get(30, TimeUnit.SECONDS);
    }
}
