package org.nettyrdma.codec.rpcrdma.format;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The XDR description of version 2, which goes into the jar. */
class XdrFileTest {

    /** How the script says that the tools are not there. */
    private static final int SKIPPED = 77;

    @TempDir
    private Path directory;

    @Test
    @DisabledOnOs(OS.WINDOWS)
    void shouldCompileAndEncodeWhatTheTestVectorsSay() throws Exception {
        File output = directory.resolve("output").toFile();
        Process check = new ProcessBuilder("sh", "src/test/vectors/check.sh").redirectErrorStream(true)
                .redirectOutput(output).start();
        try {
            assertTrue(check.waitFor(120, TimeUnit.SECONDS), "takes too long");
        } finally {
            check.destroy();
        }
        String said = Files.readString(output.toPath());
        assumeTrue(check.exitValue() != SKIPPED, said);
        assertEquals(0, check.exitValue(), said);
        assertTrue(said.contains("messages are the same"), said);
    }

    @Test
    void shouldKeepTheNoticeOfTheIetfTrustInTheExtension() throws IOException {
        try (InputStream in = RpcRdmaCodec.class.getResourceAsStream("rpcrdma-v2-characteristics.x")) {
            String text = new String(in.readAllBytes(), StandardCharsets.US_ASCII);
            assertTrue(text.startsWith("/*\n * Copyright (c) 2010, 2016 IETF Trust and the persons\n"));
            assertTrue(text.contains("The author of the code is: D. Noveck."));
            assertTrue(text.contains("ARISING\n *   IN ANY WAY OUT OF THE USE OF THIS SOFTWARE"));
        }
    }

    @Test
    void shouldKeepTheNoticeOfTheIetfTrust() throws IOException {
        try (InputStream in = RpcRdmaCodec.class.getResourceAsStream("rpcrdma-v2.x")) {
            String text = new String(in.readAllBytes(), StandardCharsets.US_ASCII);
            assertTrue(text.startsWith("/*\n * Copyright (c) 2010-2018 IETF Trust and the persons\n"));
            assertTrue(text.contains("ARISING\n *   IN ANY WAY OUT OF THE USE OF THIS SOFTWARE"));
        }
    }
}
