package org.nettyrdma.examples;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.examples.blobs.Blobs;
import org.nettyrdma.examples.callbacks.Callbacks;
import org.nettyrdma.examples.echo.Echo;
import org.nettyrdma.examples.onesided.OneSided;
import org.nettyrdma.examples.sharedmemory.SharedMemory;
import org.nettyrdma.examples.version2.VersionTwo;

/** What the examples with messages print, and the files that they write. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RpcExamplesTest {

    @TempDir
    private Path directory;

    @Test
    void shouldEcho() throws Exception {
        assertEquals(List.of("Grüße"), Output.of(Echo::main, "Grüße"));
    }

    @Test
    void shouldEchoWhatNeedsChunks() throws Exception {
        String text = "0123456789".repeat(10_000);

        assertEquals(List.of(text), Output.of(Echo::main, text));
    }

    /** All bytes of the file go in chunks, in both directions, also where XDR adds padding. */
    @ParameterizedTest
    @ValueSource(ints = {100_001, 1 << 20})
    void shouldPutAndGetBlobsInChunks(int size) throws Exception {
        byte[] bytes = writeFile(size);

        List<String> lines = Output.of(Blobs::main, file().toString(), copy().toString());

        assertEquals(List.of("read from the client's memory: " + size, "written to the client's memory: " + size), lines);
        assertArrayEquals(bytes, Files.readAllBytes(copy()));
    }

    /** A small reply goes into the chunk that the call has offered, since it is there. */
    @Test
    void shouldPutSmallBlobsInline() throws Exception {
        byte[] bytes = writeFile(100);

        List<String> lines = Output.of(Blobs::main, file().toString(), copy().toString());

        assertEquals(List.of("read from the client's memory: 0", "written to the client's memory: 100"), lines);
        assertArrayEquals(bytes, Files.readAllBytes(copy()));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 65_537, 16 << 20})
    void shouldReverseByReadAndWrite(int size) throws Exception {
        byte[] bytes = writeFile(size);

        Output.of(OneSided::main, file().toString(), copy().toString());

        byte[] reversed = new byte[size];
        for (int i = 0; i < size; i++) {
            reversed[i] = bytes[size - 1 - i];
        }
        assertArrayEquals(reversed, Files.readAllBytes(copy()));
    }

    @Test
    void shouldSayWhichArgumentsThereAre() {
        refuses("blobs FILE COPY", () -> Blobs.main(new String[] {"file"}));
        refuses("onesided FILE REVERSED", () -> OneSided.main(new String[0]));
        refuses("sharedmemory server|client SOCKET", () -> SharedMemory.main(new String[] {"server"}));
        refuses("sharedmemory server|client SOCKET", () -> SharedMemory.main(new String[] {"sever", "socket"}));
    }

    private static void refuses(String usage, Executable program) {
        assertEquals("usage: examples/run " + usage, assertThrows(IllegalArgumentException.class, program).getMessage());
    }

    @Test
    void shouldReportEachStep() throws Exception {
        assertEquals(List.of("step 1", "step 2", "step 3", "step 4", "done"), Output.of(Callbacks::main, "4"));
    }

    @Test
    void shouldSendLargerCallsInlineOnceTheServerHasLargerBuffers() throws Exception {
        assertEquals(List.of("a large call: LONG", "version TWO, largest send: 4096",
                "larger receive buffers: [DONE]", "version TWO, largest send: 16384", "a large call: INLINE"),
                Output.of(VersionTwo::main));
    }

    private Path file() {
        return directory.resolve("file");
    }

    private Path copy() {
        return directory.resolve("copy");
    }

    private byte[] writeFile(int size) throws IOException {
        byte[] bytes = new byte[size];
        new Random(size).nextBytes(bytes);
        Files.write(file(), bytes);
        return bytes;
    }
}
