package org.nettyrdma.example.nfs.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.nettyrdma.example.nfs.client.NfsClientOptions;
import org.nettyrdma.example.nfs.client.NfsEndpoint;
import org.nettyrdma.example.nfs.client.NfsSession;
import org.nettyrdma.example.nfs.client.ReadResult;
import org.nettyrdma.example.nfs.protocol.FileHandle;
import org.nettyrdma.example.nfs.protocol.Nfs;
import org.nettyrdma.example.nfs.protocol.NfsProcedure;
import org.nettyrdma.example.nfs.protocol.ReadArguments;

/** A server on a host of 1 GB, whose TCP port is attacked; others are served over both transports all the same. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SmallHostTest {

    private static final int MIB = 1 << 20;
    /** What PeerLog writes within a second, with the line that tells how many more there were. */
    private static final int MOST_LINES_OF_A_SECOND = 11;
    /** Less than the 60 seconds that a record may take where nobody waits for its memory. */
    private static final int TIMEOUT_SECONDS = 30;

    @TempDir
    private Path directory;

    private final List<Socket> sockets = new ArrayList<>();
    private Path log;
    private Process server;
    private long startNanos;
    private NfsEndpoint rdma;
    private NfsEndpoint tcp;
    private FileHandle file;

    @BeforeEach
    void serve() throws Exception {
        Path export = Files.createDirectory(directory.resolve("export"));
        Files.write(export.resolve("file"), new byte[4 * MIB]);
        log = directory.resolve("log");
        List<String> command = new ArrayList<>(NfsProcessTest.command("serve", "--port", "0", "--tcp-port", "0", "--bind",
                "127.0.0.1",
                "--export", export.toString()));
        command.addAll(1, List.of("-XX:MaxRAM=1g", "-Dio.netty.leakDetection.level=disabled"));
        startNanos = System.nanoTime();
        server = new ProcessBuilder(command).redirectError(log.toFile()).start();
        BufferedReader addresses = new BufferedReader(new InputStreamReader(server.getInputStream(), StandardCharsets.UTF_8));
        rdma = NfsEndpoint.parse(NfsProcessTest.address(addresses, "rdma://127.0.0.1:"));
        tcp = NfsEndpoint.parse(NfsProcessTest.address(addresses, "tcp://127.0.0.1:"));
        try (NfsSession session = NfsSession.open(tcp, new NfsClientOptions())) {
            file = session.files().find("/file").handle();
        }
    }

    @AfterEach
    void stop() throws IOException {
        for (Socket socket : sockets) {
            socket.close();
        }
        server.destroyForcibly();
    }

    @Test
    void shouldServeOthersWhileOneReadsNoneOfAThousandReplies() throws Exception {
        requireService(); // whatever is slow the first time
        ByteBuf burst = Unpooled.buffer();
        for (int i = 0; i < 1000; i++) {
            ByteBuf call = Unpooled.buffer().writeInt(i).writeInt(0).writeInt(2).writeInt(Nfs.PROGRAM).writeInt(Nfs.VERSION)
                    .writeInt(NfsProcedure.READ.number()).writeZero(16);
            new ReadArguments(file, 0, MIB).write(call);
            burst.writeInt(0x8000_0000 | call.readableBytes()).writeBytes(call);
        }
        Socket attacker = attacker();
        burst.readBytes(attacker.getOutputStream(), burst.readableBytes());
        assertEquals(0x80, attacker.getInputStream().read(), "it has begun");
        for (int i = 0; i < 20; i++) {
            requireService();
        }
        requireCalmLog();
    }

    @Test
    void shouldServeOthersWhileSevenHundredRecordsAreNotFinished() throws Exception {
        requireService();
        byte[] begun = Arrays.copyOf(new byte[] {(byte) 0x80, 0x10, 0, 0}, 512 << 10);
        for (int i = 0; i < 700; i++) {
            Socket attacker = attacker();
            Thread sender = new Thread(() -> {
                try {
                    attacker.getOutputStream().write(begun); // blocks once nothing more is read
                } catch (IOException e) {
                    // the end of the test
                }
            });
            sender.setDaemon(true);
            sender.start();
        }
        for (int i = 0; i < 20; i++) {
            requireService();
        }
        requireCalmLog();
    }

    private Socket attacker() throws IOException {
        Socket socket = new Socket(tcp.host(), tcp.port());
        sockets.add(socket);
        return socket;
    }

    /** Connections that are made now read a file over each transport. */
    private void requireService() throws Exception {
        for (NfsEndpoint endpoint : List.of(rdma, tcp)) {
            try (NfsSession session = NfsSession.open(endpoint, new NfsClientOptions())) {
                for (int offset = 0; offset < 4 * MIB; offset += MIB) {
                    ReadResult data = session.client().read(file, offset, MIB).get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
                    assertEquals(MIB, data.content().readableBytes());
                    data.release();
                }
            }
        }
    }

    /** The attackers cause a line each, and a busy machine gives them more seconds for that. */
    private void requireCalmLog() throws IOException {
        String text = Files.readString(log);
        long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - startNanos) + 1;
        assertFalse(text.contains("OutOf"), text);
        assertTrue(text.lines().count() <= MOST_LINES_OF_A_SECOND * seconds, text);
        assertTrue(server.isAlive());
    }
}
