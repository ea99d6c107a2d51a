package org.nettyrdma.verbs.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nettyrdma.testing.Jvm;
import org.nettyrdma.verbs.MemoryRegion;
import org.nettyrdma.verbs.SendWorkRequest;

/** The hooks of a JVM run at the same time, and one of them may be waiting for the last answers of a server. */
class EndOfProcessTest {

    private static final int REPLY_BYTES = 512 * 1024;

    @TempDir
    private Path temporary;

    private static List<String> names(Path directory) throws IOException {
        try (var files = Files.list(directory)) {
            return files.map(each -> each.getFileName().toString()).sorted().toList();
        }
    }

    @Test
    void shouldStillAnswerFromNewMemoryWhenTheEndHasBegun() throws IOException {
        Path shared = temporary.resolve("shm");
        ShmSettings settings = new ShmSettings(shared, Set.of());
        ShmProvider provider = new ShmProvider(settings);
        ShmSide server = new ShmSide(provider);
        ShmSide client = new ShmSide(provider);
        SocketAddress address = server.listen();
        client.connect(address, 0);
        client.queuePair.postReceive(0, client.region, 0, REPLY_BYTES);
        client.context.poll(client, 64);
        server.accept(8);
        client.awaitTrue(() -> client.established);
        ProcessDirectory.of(settings).end();
        assertEquals(List.of(), names(ownDirectory(shared)).stream().filter(each -> each.startsWith("s")).toList());
        assertThrows(ConnectException.class, () -> client.context.createQueuePair(ShmSide.ATTRIBUTES, client)
                .connect(address, null, ByteBuffer.allocate(0)));

        ByteBuffer memory = provider.allocate(REPLY_BYTES);
        memory.put(REPLY_BYTES - 1, (byte) 7);
        try (MemoryRegion region = provider.registerMemory(memory)) {
            server.queuePair.postSend(new SendWorkRequest(4).send(1000).addElement(region, 0, REPLY_BYTES));
            server.queuePair.flush();
            client.awaitTrue(() -> client.received == 1 || client.ended);
            server.awaitTrue(() -> server.sent == 1 || server.ended);
        }
        assertFalse(client.ended || server.ended);
        assertEquals(7, client.memory.get(REPLY_BYTES - 1));

        provider.free(memory);
        client.close();
        assertTrue(Files.exists(ownDirectory(shared)));
        server.close();
        assertEquals(List.of("lock"), names(shared).stream().filter(each -> !each.startsWith("port-")).toList());
    }

    private static Path ownDirectory(Path shared) throws IOException {
        return shared.resolve(names(shared).stream().filter(each -> each.startsWith("i")).findFirst().orElseThrow());
    }

    /** Nobody ends the event loop. */
    @Test
    void shouldRemoveAllFilesAtTheEndOfTheProcess() throws Exception {
        Process process = new ProcessBuilder(Jvm.command(List.of("-Xmx64m"), EndOfProcessTest.class,
                temporary.toString()))
                .inheritIO().start();
        try {
            assertTrue(process.waitFor(ShmSide.TIMEOUT_SECONDS, TimeUnit.SECONDS));
        } finally {
            process.destroyForcibly();
        }
        assertEquals(3, process.exitValue());
        assertEquals(List.of("lock"), names(temporary.resolve("shm")));
    }

    /** A new process has made its directory, and is about to make and lock the file in it that tells others that it lives. */
    @Test
    void shouldLeaveAloneTheDirectoryThatAnotherProcessIsMaking() throws Exception {
        Path shared = temporary.resolve("shm");
        Process process = new ProcessBuilder(Jvm.command(List.of("-Xmx64m"), EndOfProcessTest.class,
                temporary.toString(), "wait"))
                .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try {
            assertEquals('1', process.getInputStream().read());
            Path made = shared.resolve("i0000000000000002");
            FileChannel locked = new SharedDirectory(new ShmSettings(shared, Set.of())).lock(10_000);
            try {
                Files.createDirectory(made);
                process.getOutputStream().close();
                assertTrue(process.waitFor(ShmSide.TIMEOUT_SECONDS, TimeUnit.SECONDS));
            } finally {
                locked.close();
            }
            assertTrue(Files.exists(made));
        } finally {
            process.destroyForcibly();
        }
        assertEquals(3, process.exitValue());
    }

    public static void main(String[] arguments) throws IOException {
        ShmProvider provider = new ShmProvider(new ShmSettings(Path.of(arguments[0]).resolve("shm"), Set.of()));
        if (arguments.length > 1) {
            provider.openContext();
            System.out.write('1');
            System.out.flush();
            System.in.read();
            System.exit(3);
        }
        ShmSide server = new ShmSide(provider);
        ShmSide client = new ShmSide(provider);
        client.connect(server.listen(), 8);
        client.context.poll(client, 64);
        server.accept(8);
        client.awaitTrue(() -> client.established);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try {
                provider.allocate(4096); // before or after the files of the others were looked at
            } catch (IOException e) {
                Runtime.getRuntime().halt(4);
            }
        }));
        System.exit(3);
    }
}
