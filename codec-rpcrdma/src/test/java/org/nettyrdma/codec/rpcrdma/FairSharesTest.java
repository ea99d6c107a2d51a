package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.nettyrdma.channel.IdleStrategy;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaEventLoopGroup;
import org.nettyrdma.channel.RdmaServerChannel;
import org.nettyrdma.channel.RemoteAccess;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.SingleVersionProgram;

/**
 * 64 connections that take memory and keep it, and a client that does not: what it waits for its replies stays within twice the
 * time that they take at the same moment from a server that nobody attacks, from the first second on.
 * {@code -Dattack.seconds=60} goes on for longer than the time limits.
 */
@Timeout(300)
class FairSharesTest {

    private static final int ATTACKERS = 64;
    private static final int CALLS_OF_EACH = 24;
    private static final int DATA_BYTES = 1 << 20;
    /** What a host of 1 GB has by default. */
    private static final long MEMORY_BYTES = 96 << 20;
    private static final long SLACK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    /** How long calls are made for one median. */
    private static final long WINDOW_MILLIS = 400;
    private static final long ATTACK_WINDOWS = Math.max(1, Long.getLong("attack.seconds", 0) * 1000 / WINDOW_MILLIS);

    private final RdmaEventLoopGroup attackers = group("attacker");
    private final List<RawPeer> peers = new ArrayList<>();
    private final AtomicInteger addresses = new AtomicInteger();
    private Service attacked;
    private Service spared;

    private static RdmaEventLoopGroup group(String name) {
        return new RdmaEventLoopGroup(1, new DefaultThreadFactory(name, true), TestProviders.overTcp(),
                IdleStrategy.BLOCKING);
    }

    /** LOAD and STORE of {@link BulkProgram}, as fast as can be. */
    private static final class FastProgram implements SingleVersionProgram {

        @Override
        public int program() {
            return BulkProgram.PROGRAM;
        }

        @Override
        public void call(RpcCall call) {
            if (call.procedure() == BulkProgram.LOAD) {
                int length = call.arguments().readInt();
                ByteBuf head = call.alloc().buffer().writeInt(0).writeInt(length);
                ByteBuf data = call.alloc().buffer(length).writerIndex(length);
                call.reply(call.alloc().compositeBuffer(3).addComponents(true, head, data), List.of(new DataItem(8, length)));
            } else {
                call.reply(call.alloc().buffer().writeZero(12));
            }
        }
    }

    /** A server and a client that calls it, each with a loop of its own. */
    private static final class Service {

        private final RdmaEventLoopGroup servers = group("server");
        private final RdmaEventLoopGroup clients = group("client");
        private final RpcRdma server;
        private final Channel listener;
        private Channel client;

        Service() throws Exception {
            server = ShortSends.server().binding(BulkProgram.BINDING).program(new FastProgram())
                    .resources(ResourceLimits.DEFAULT.withMaxTotalBytes(MEMORY_BYTES)).build();
            listener = server.configure(new ServerBootstrap().group(servers).channel(RdmaServerChannel.class))
                    .bind(RawPeer.loopback()).sync().channel();
            connect();
        }

        void connect() throws Exception {
            if (client != null) {
                client.close().sync();
            }
            client = ShortSends.client().binding(BulkProgram.BINDING).build()
                    .configure(new Bootstrap().group(clients).channel(RdmaChannel.class)).connect(listener.localAddress()).sync()
                    .channel();
        }

        /** Half of the calls take data from the server, half of them bring it. */
        long callNanos(int number) throws Exception {
            boolean load = number % 2 == 0;
            ByteBuf arguments = client.alloc().buffer(DATA_BYTES + 16);
            if (load) {
                arguments.writeInt(DATA_BYTES).writeInt(0);
            } else {
                arguments.writeInt(1).writeInt(DATA_BYTES).writerIndex(8 + DATA_BYTES).writeInt(2);
            }
            long start = System.nanoTime();
            ByteBuf results = client.pipeline().get(RpcClient.class).call(new RpcRequest(BulkProgram.PROGRAM, 1,
                    load ? BulkProgram.LOAD : BulkProgram.STORE, arguments)).get(20, TimeUnit.SECONDS);
            long nanos = System.nanoTime() - start;
            results.release();
            return nanos;
        }

        void stop() throws Exception {
            client.close().sync();
            listener.close().sync();
            end(servers);
            end(clients);
        }
    }

    private static void end(RdmaEventLoopGroup group) throws InterruptedException {
        group.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
    }

    @BeforeEach
    void start() throws Exception {
        attacked = new Service();
        spared = new Service();
    }

    @AfterEach
    void stop() throws Exception {
        peers.forEach(RawPeer::close);
        attacked.stop();
        spared.stop();
        end(attackers);
    }

    @ParameterizedTest
    @CsvSource({
        "0, true",      // Reads that nobody answers, each from another address
        "200, false",   // 640 bytes a second of each, from the client's own address
    })
    void shouldServeOthersAsFastAsBefore(int trickleMillis, boolean differentAddresses) throws Exception {
        measure(); // while the code is cold
        measure();
        try (SlowProxy proxy = new SlowProxy(attacked.listener.localAddress(), trickleMillis,
                () -> nextAddress(differentAddresses))) {
            ByteBuf data = attack(proxy);
            try {
                awaitAttack();
                measure(); // while the caches are cold
                requireAsFast("under attack", ATTACK_WINDOWS);
                attacked.connect();
                measure();
                requireAsFast("after connecting again", 1);
            } finally {
                peers.forEach(RawPeer::close);
                data.release();
            }
        }
    }

    /** A window may be slow because the machine is busy with something else, so for each there are seven: three seconds. */
    private void requireAsFast(String when, long windows) throws Exception {
        for (long window = 0; window < windows; window++) {
            Medians best = measure();
            for (int i = 1; i < 7 && !best.areClose(); i++) {
                best = measure();
            }
            String found = best + " " + when + "; " + attacked.server.memory().usedBytes() + " bytes in use, "
                    + attacked.server.memory().waiting() + " wait";
            assertTrue(best.areClose(), found);
        }
    }

    private InetSocketAddress nextAddress(boolean different) {
        return new InetSocketAddress(different ? "127.0.1." + (1 + addresses.getAndIncrement() % ATTACKERS) : "127.0.0.1", 0);
    }

    /** Each asks the server to read as much as it will, and lets it wait. */
    private ByteBuf attack(SlowProxy proxy) throws Exception {
        ByteBuf data = null;
        for (int i = 0; i < ATTACKERS; i++) {
            RawPeer peer = RawPeer.connect(proxy.listener(), RawPeer.LINUX_CLIENT, attackers);
            peers.add(peer);
            data = data == null ? peer.registered(new byte[DATA_BYTES]) : data;
            String segment = RawPeer.hex(peer.expose(data, 0, DATA_BYTES, RemoteAccess.READ).segment());
            peer.sendHex(call("0000cafe", RawClient.NO_CHUNKS, BulkProgram.NULL, ""));
            peer.receive().release(); // from here it has more than one credit
            for (int c = 0; c < CALLS_OF_EACH; c++) {
                String xid = String.format("%08x", c + 1);
                peer.channel().write(Bytes.hex(call(xid, "00000001 00000030" + segment + RawClient.NO_CHUNKS, BulkProgram.STORE,
                        "00000001" + String.format("%08x", DATA_BYTES) + "00000002")));
            }
            peer.channel().flush();
        }
        return data;
    }

    private static String call(String xid, String lists, int procedure, String arguments) {
        return xid + "00000001 00000020 00000000" + lists + xid + RawClient.CALL + String.format("%08x", procedure)
                + RawClient.NO_AUTH + arguments;
    }

    private void awaitAttack() {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(RpcRdmaPair.TIMEOUT_SECONDS);
        while (attacked.server.memory().waiting() < ATTACKERS || attacked.server.memory().usedBytes() < MEMORY_BYTES / 2) {
            assertTrue(System.nanoTime() - deadline < 0, () -> attacked.server.memory().waiting() + " wait");
            Thread.onSpinWait();
        }
    }

    /** What calls of one window took, of those of either service. */
    private record Medians(long attackedNanos, long sparedNanos) {

        boolean areClose() {
            return attackedNanos <= 2 * sparedNanos + SLACK_NANOS;
        }
    }

    /** Calls both services in turns, so that whatever else the machine does slows both of them. */
    private Medians measure() throws Exception {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(WINDOW_MILLIS);
        List<Long> attackedNanos = new ArrayList<>();
        List<Long> sparedNanos = new ArrayList<>();
        while (System.nanoTime() - end < 0) {
            attackedNanos.add(attacked.callNanos(attackedNanos.size()));
            sparedNanos.add(spared.callNanos(sparedNanos.size()));
        }
        return new Medians(median(attackedNanos), median(sparedNanos));
    }

    private static long median(List<Long> nanos) {
        Collections.sort(nanos);
        return nanos.get(nanos.size() / 2);
    }
}
