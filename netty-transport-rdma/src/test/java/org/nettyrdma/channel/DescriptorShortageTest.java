package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.OperatingSystemMXBean;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nettyrdma.testing.Jvm;
import org.nettyrdma.testkit.Endpoint;
import org.nettyrdma.testkit.TransportFixture;
import org.nettyrdma.verbs.VerbsProvider;

/** A server in a process of its own that may have few files open. */
class DescriptorShortageTest extends TransportFixture {

    private static final int DESCRIPTORS = 200;
    private static final int MORE_THAN_THERE_ARE = 2 * DESCRIPTORS;
    private static final long MOST_CONNECT_NANOS = TimeUnit.SECONDS.toNanos(4);

    private final List<SocketChannel> silent = new ArrayList<>();
    private Process process;
    private InetSocketAddress server;

    /**
     * The server: prints its port, then how many channels it has and its processor time as often as it is asked, until its input
     * ends. With an argument it closes each connection at once, and another event loop than the one that accepts has them.
     */
    public static void main(String[] arguments) throws Exception {
        loadClasses(Path.of(RdmaServerChannel.class.getProtectionDomain().getCodeSource().getLocation().toURI()));
        RdmaEventLoopGroup loops = new RdmaEventLoopGroup(1, new DefaultThreadFactory("few-descriptors", true),
                Rdma.provider("iwarp"),
                IdleStrategy.BLOCKING);
        boolean closing = arguments.length > 0;
        RdmaEventLoopGroup children = !closing ? loops : new RdmaEventLoopGroup(1, new DefaultThreadFactory("children", true),
                Rdma.provider("iwarp"), IdleStrategy.BLOCKING);
        var channel = new ServerBootstrap().group(loops, children).channel(RdmaServerChannel.class)
                .option(RdmaChannelOption.REQUEST_TIMEOUT_MILLIS, 600_000)
                .childOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, 1)
                .childOption(RdmaChannelOption.CLOSE_TIMEOUT_MILLIS, 600_000)
                .childHandler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public boolean isSharable() {
                        return true;
                    }

                    @Override
                    public void channelActive(ChannelHandlerContext ctx) {
                        if (closing) {
                            ctx.close();
                        }
                    }
                }).bind("127.0.0.1", 0).sync().channel();
        System.out.println(((InetSocketAddress) channel.localAddress()).getPort());
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        while (questions.readLine() != null) { // not before: Java opens files for it, and initialises classes that servers use
            OperatingSystemMXBean system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
            System.out.println(TimeUnit.NANOSECONDS.toMillis(system.getProcessCpuTime()));
        }
    }

    /**
     * The build has classes in files of their own, for each of which a descriptor is needed; in use they are in an archive that
     * is open. They are not initialised: what that needs has to be there without it, too.
     */
    private static void loadClasses(Path directory) throws IOException, ClassNotFoundException {
        try (Stream<Path> files = Files.walk(directory.resolve("org/nettyrdma"))) {
            for (String name : files.map(file -> directory.relativize(file).toString()).filter(file -> file.endsWith(".class")
                    && !file.contains("/disni/") && !file.endsWith("-info.class")).toList()) {
                Class.forName(name.substring(0, name.length() - ".class".length()).replace('/', '.'), false,
                        DescriptorShortageTest.class.getClassLoader());
            }
        }
    }

    @Override
    protected VerbsProvider provider() {
        return Rdma.provider("iwarp");
    }

    @BeforeEach
    void startServer() throws IOException {
        startServer(new String[0]);
    }

    private void startServer(String... arguments) throws IOException {
        List<String> command = Jvm.command(List.of("-Xmx128m"), DescriptorShortageTest.class, arguments);
        command.addAll(0, List.of("/bin/sh", "-c", "ulimit -n " + DESCRIPTORS + "; exec \"$@\"", "sh"));
        process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        server = new InetSocketAddress("127.0.0.1", Integer.parseInt(answer()));
    }

    @AfterEach
    void stopServer() throws Exception {
        for (SocketChannel channel : silent) {
            channel.close();
        }
        process.getOutputStream().close();
        assertTrue(process.waitFor(Endpoint.TIMEOUT_SECONDS, TimeUnit.SECONDS));
    }

    private String answer() throws IOException {
        String line = process.inputReader(StandardCharsets.UTF_8).readLine();
        assertNotNull(line, "the server has ended");
        return line;
    }

    private long processorMillis() throws IOException {
        process.getOutputStream().write('\n');
        process.getOutputStream().flush();
        return Long.parseLong(answer());
    }

    private Endpoint connectToProcess() throws InterruptedException {
        Endpoint endpoint = newEndpoint();
        Endpoint.await(bootstrap().option(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, 1).handler(endpoint).connect(server));
        return endpoint;
    }

    @Test
    void shouldLetPeersThatOweTheirRequestMakeRoom() throws Exception {
        for (int i = 0; i < MORE_THAN_THERE_ARE; i++) {
            silent.add(SocketChannel.open(server));
        }
        for (int i = 0; i < 3; i++) {
            long start = System.nanoTime();
            connectToProcess();
            long nanos = System.nanoTime() - start;
            assertTrue(nanos < MOST_CONNECT_NANOS, () -> "connecting took " + TimeUnit.NANOSECONDS.toMillis(nanos) + " ms");
        }
    }

    /** The system refuses also where nobody waits; the peer that got the last descriptor, and all others, may stay. */
    @Test
    void shouldKeepPeersWhileTheLastDescriptorServes() throws Exception {
        int sockets = sockets(); // Java opens files for moments, too
        while (descriptors() < DESCRIPTORS) {
            silent.add(SocketChannel.open(server));
            int expected = sockets + silent.size();
            awaitTrue(() -> sockets() == expected, "accepted");
        }
        requestConnection(silent.get(0));
    }

    private static void requestConnection(SocketChannel peer) throws IOException {
        peer.write(ByteBuffer.allocate(20).put("MPA ID Req Frame".getBytes(StandardCharsets.US_ASCII)).put(17, (byte) 1).clear());
        ByteBuffer reply = ByteBuffer.allocate(20);
        while (reply.hasRemaining()) {
            assertTrue(peer.read(reply) > 0, "dropped");
        }
        assertEquals("MPA ID Rep Frame", new String(reply.array(), 0, 16, StandardCharsets.US_ASCII));
    }

    /** Peers that do not close what the server has closed, all of them at an event loop that does not accept. */
    @Test
    @Timeout(Endpoint.TIMEOUT_SECONDS)
    void shouldLetPeersOfOtherEventLoopsMakeRoomThatDoNotClose() throws Exception {
        stopServer();
        startServer("closing");
        for (int i = 0; i < MORE_THAN_THERE_ARE; i++) {
            SocketChannel peer = SocketChannel.open(server);
            silent.add(peer);
            requestConnection(peer);
        }
    }

    private int descriptors() {
        return descriptorFiles().length;
    }

    private File[] descriptorFiles() {
        return new File("/proc/" + process.pid() + "/fd").listFiles();
    }

    private int sockets() throws IOException {
        int sockets = 0;
        for (File file : descriptorFiles()) {
            try {
                sockets += Files.readSymbolicLink(file.toPath()).toString().startsWith("socket:") ? 1 : 0;
            } catch (NoSuchFileException e) {
                // closed meanwhile
            }
        }
        return sockets;
    }

    /**
     * Connections that stand are not given up, so that others have to wait; meanwhile the server does not try without a pause.
     */
    @Test
    void shouldWaitWithoutSpinningUntilConnectionsEnd() throws Exception {
        processorMillis(); // while there are descriptors for the first answer
        List<Endpoint> connected = new ArrayList<>();
        List<ChannelFuture> attempts = new ArrayList<>();
        for (int i = 0; i < MORE_THAN_THERE_ARE; i++) {
            Endpoint endpoint = newEndpoint();
            connected.add(endpoint);
            attempts.add(bootstrap().option(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, 1).handler(endpoint).connect(server));
        }
        long before = 0;
        long used = Long.MAX_VALUE;
        long established = 0;
        long earlier = -1;
        // The first seconds are for those that get through, however little of the processor others leave to them.
        for (int second = 0; second < 25 && (used > 200 || established <= DESCRIPTORS / 4 || established > earlier); second++) {
            earlier = established;
            before = processorMillis();
            TimeUnit.SECONDS.sleep(1);
            used = processorMillis() - before;
            established = attempts.stream().filter(attempt -> attempt.isSuccess()).count();
        }
        assertTrue(used <= 200, "processor time of the last second: " + used + " ms");
        assertTrue(established > DESCRIPTORS / 4 && established < DESCRIPTORS, established + " connections");
        assertEquals(established, connected.stream().filter(endpoint -> endpoint.channel().isActive()).count());
        for (Endpoint endpoint : connected) {
            endpoint.channel().close();
        }
        connectToProcess();
    }
}
