package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.Future;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.nettyrdma.testkit.Endpoint;
import org.nettyrdma.testkit.TransportFixture;
import org.nettyrdma.verbs.VerbsProvider;
import org.nettyrdma.verbs.iwarp.IwarpProvider;

/** Channels that get longer receives than they have asked for, as long as there is memory. */
@Timeout(120)
class LongReceivesTest extends TransportFixture {

    private static final int SHORT_BYTES = 4096;
    private static final int LONG_BYTES = 69632;
    /** The answer to a request of MPA, with what RFC 6581 adds. */
    private static final int REPLY_BYTES = 24;

    private final VerbsProvider provider = new IwarpProvider(); // memory that no other test uses
    private final EventLoopGroup serverLoop = startGroup(1, IdleStrategy.ADAPTIVE);
    private final ConnectionMemory memory = RegisteredByteBufAllocator.of(provider).connectionMemory();

    @Override
    protected VerbsProvider provider() {
        return provider;
    }

    private Endpoint accepted(Bootstrap client, ServerBootstrap server) throws Exception {
        connect(client, listen(server));
        return awaitAccepted();
    }

    private ServerBootstrap longServer() {
        return serverBootstrap(serverLoop).childOption(RdmaChannelOption.LONG_RECEIVES, true);
    }

    private static int receiveBytes(Endpoint endpoint) {
        return endpoint.channel().config().getOption(RdmaChannelOption.RECEIVE_BUFFER_SIZE);
    }

    @Test
    void shouldReceiveWhatTheProviderPrefersToSendWhole() throws Exception {
        Channel listener = listen(longServer());
        Endpoint client = connect(bootstrap(), listener);
        Endpoint server = awaitAccepted();
        assertEquals(LONG_BYTES, provider.longestPreferredSendBytes());
        assertEquals(LONG_BYTES, receiveBytes(server));
        assertEquals(LONG_BYTES, (int) server.call(server.channel()::receivableBytes));
        assertEquals(SHORT_BYTES, receiveBytes(client), "nobody has asked for more");
        String longest = "x".repeat(LONG_BYTES);
        for (int i = 0; i < 300; i++) {
            client.send(longest);
            client.send("short " + i);
        }
        for (int i = 0; i < 300; i++) {
            assertEquals(longest, server.awaitText());
            assertEquals("short " + i, server.awaitText());
        }
    }

    @Test
    void shouldKeepWhatWasAskedForWhereReceivesAreNotSharedOrLonger() throws Exception {
        Endpoint own = accepted(bootstrap(), longServer().childOption(RdmaChannelOption.SHARED_RECEIVES, false));
        assertEquals(SHORT_BYTES, receiveBytes(own));
        Endpoint longer = accepted(bootstrap(), longServer().childOption(RdmaChannelOption.RECEIVE_BUFFER_SIZE, 100_000));
        assertEquals(100_000, receiveBytes(longer));
    }

    @Test
    void shouldGiveLongReceivesToThoseThatComeFirst() throws Exception {
        int all = (int) (memory.maxBytes() / 16 / LONG_BYTES); // also one client channel for each of them counts
        ServerBootstrap server = longServer().childOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, all / 5);
        Channel listener = listen(server);
        int[] sizes = new int[4];
        Endpoint first = null;
        for (int i = 0; i < sizes.length; i++) {
            connect(bootstrap(), listener);
            Endpoint accepted = awaitAccepted();
            first = first == null ? accepted : first;
            sizes[i] = receiveBytes(accepted);
        }
        assertEquals(LONG_BYTES, sizes[0]);
        assertEquals(LONG_BYTES, sizes[1]);
        assertEquals(SHORT_BYTES, sizes[2]);
        assertEquals(SHORT_BYTES, sizes[3]);
        long longBytes = 2L * (all / 5) * LONG_BYTES;
        assertTrue(longBytes < memory.maxBytes() / 16 && memory.receiveBytes() > longBytes, "receives: " + memory.receiveBytes());
        assertEquals(SHORT_BYTES, receiveBytes(accepted(bootstrap(), server)), "as long as there are as many channels");
        first.channel().config().setOption(RdmaChannelOption.RECEIVE_BUFFER_SIZE, SHORT_BYTES);
        assertEquals(SHORT_BYTES, (int) first.call(first.channel()::receivableBytes), "it may ask for less later");
    }

    @Test
    void shouldGiveNoMoreLongReceivesWhereEventLoopsAskAtOnce() throws Exception {
        int loops = 8;
        EventLoopGroup group = startGroup(loops, IdleStrategy.BLOCKING);
        int depth = (int) (memory.maxBytes() / 16 / LONG_BYTES / 2); // there is room for two
        for (int round = 0; round < 200; round++) {
            CyclicBarrier barrier = new CyclicBarrier(loops);
            List<RdmaChannel> channels = new ArrayList<>();
            List<Future<?>> registered = new ArrayList<>();
            for (int i = 0; i < loops; i++) {
                RdmaChannel channel = new RdmaChannel();
                channel.config().setLongReceives(true).setReceiveQueueDepth(depth);
                channels.add(channel);
                EventLoop loop = group.next();
                registered.add(loop.submit(() -> {
                    barrier.await();
                    return loop.register(channel);
                }));
            }
            int withLong = 0;
            for (int i = 0; i < loops; i++) {
                ((ChannelFuture) registered.get(i).get()).sync();
                withLong += channels.get(i).config().getReceiveBufferSize() == LONG_BYTES ? 1 : 0;
            }
            assertTrue(withLong <= 2, withLong + " channels in round " + round);
            for (RdmaChannel channel : channels) {
                channel.close();
                Endpoint.await(channel.releaseFuture());
            }
        }
    }

    @Test
    void shouldTakeNothingFromThoseWithShortReceives() throws Exception {
        int depth = (int) (memory.maxBytes() / 16 / LONG_BYTES / 8);
        Endpoint withLong = accepted(bootstrap(), longServer().childOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, depth));
        Endpoint withShort = accepted(bootstrap(), serverBootstrap(serverLoop));
        withShort.call(() -> withShort.channel().reserveReceives(1, 0));
        int share = withShort.call(() -> withShort.channel().reserveReceives(1 << 20, 0));
        withShort.call(() -> withShort.channel().reserveReceives(1, 0));
        assertEquals(LONG_BYTES, receiveBytes(withLong));
        withLong.channel().close();
        Endpoint.await(withLong.channel().releaseFuture());
        assertEquals(share, (int) withShort.call(() -> withShort.channel().reserveReceives(1 << 20, 0)));
    }

    @Test
    void shouldHoldBackWhatIsNotReadInLongReceives() throws Exception {
        Channel listener = listen(longServer().childOption(ChannelOption.AUTO_READ, false));
        Endpoint client = connect(bootstrap(), listener);
        Endpoint server = awaitAccepted();
        for (int i = 0; i < 1000; i++) {
            client.send("held " + i);
        }
        awaitTrue(() -> server.call(server.channel()::heldMessages) == 128, "the depth is reached");
        server.channel().config().setAutoRead(true);
        for (int i = 0; i < 1000; i++) {
            assertEquals("held " + i, server.awaitText());
        }
    }

    /** A connection of iWARP whose peer has begun a message, and does not go on. */
    private Socket beginMessage(Channel listener) throws Exception {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), ((InetSocketAddress) listener.localAddress()).getPort());
        socket.getOutputStream().write(ByteBufUtil.decodeHexDump("4d504120494420526571204672616d65" + "1002000400100004"));
        assertEquals(REPLY_BYTES, socket.getInputStream().readNBytes(REPLY_BYTES).length);
        // A Send whose first segment has 8 bytes, and more of them to follow.
        socket.getOutputStream().write(ByteBufUtil.decodeHexDump("001a0143" + "00000000" + "00000000" + "00000001" + "00000000"
                + "0102030405060708" + "00000000"));
        return socket;
    }

    @ParameterizedTest
    @CsvSource({"true, 4096", "false, 69632"})
    void shouldNotWaitForMessagesThatOthersDoNotEnd(boolean isLong, int bufferBytes) throws Exception {
        Channel listener = listen(serverBootstrap(serverLoop).childOption(RdmaChannelOption.LONG_RECEIVES, isLong)
                .childOption(RdmaChannelOption.RECEIVE_BUFFER_SIZE, bufferBytes)
                .childOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, 16));
        List<Socket> slow = new ArrayList<>();
        List<Endpoint> held = new ArrayList<>();
        try {
            for (int i = 0; i < 3; i++) {
                slow.add(beginMessage(listener));
                Endpoint server = awaitAccepted();
                assertEquals(LONG_BYTES, receiveBytes(server));
                server.call(() -> server.channel().reserveReceives(1, 0));
                held.add(server);
            }
            Endpoint client = connect(bootstrap(), listener);
            Endpoint server = awaitAccepted();
            server.call(() -> server.channel().reserveReceives(1, 0));
            String longest = "x".repeat(LONG_BYTES);
            for (int i = 0; i < 20; i++) {
                client.send(longest);
                assertEquals(longest, server.awaitText());
            }
            assertTrue(held.stream().allMatch(endpoint -> endpoint.channel().isActive()), "nobody had to go for it");
        } finally {
            for (Socket socket : slow) {
                socket.close();
            }
        }
    }
}
