package org.nettyrdma.example.nfs.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.example.nfs.protocol.NfsProcedure;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.slf4j.LoggerFactory;

/** Faults of the server that a peer can repeat. */
@ParameterizedClass
@EnumSource(TestFileSystem.class)
class FaultLogTest extends NfsTest {

    FaultLogTest(TestFileSystem fileSystem) {
        super(fileSystem);
    }

    private static List<String> logWhile(Runnable action) {
        PrintStream before = System.err;
        ByteArrayOutputStream log = new ByteArrayOutputStream();
        System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
        try {
            action.run();
        } finally {
            System.setErr(before);
        }
        return log.toString(StandardCharsets.UTF_8).lines().toList();
    }

    @Test
    void shouldWarnOnceAMinuteThoughACallThatFailsIsRepeated() throws IOException {
        assumeTrue(fileSystem == TestFileSystem.MEMORY, "it can be taken away");
        root.getFileSystem().close();

        List<String> log = logWhile(() -> {
            assertEquals(NfsStatus.SERVERFAULT, client.call(NfsProcedure.GETATTR, top).status());
            assertEquals(NfsStatus.SERVERFAULT, client.call(NfsProcedure.GETATTR, top).status());
        });

        assertEquals(1, log.size(), log::toString);
        assertTrue(log.get(0).contains("GETATTR failed with java.nio.file.ClosedFileSystemException at "), log.get(0));
    }

    @Test
    void shouldNotTellWhatAPeerHasSent() {
        FaultLog faults = new FaultLog(LoggerFactory.getLogger(FaultLogTest.class));

        List<String> log = logWhile(() -> faults.warn("LOOKUP", new IllegalStateException("name\n[main] ERROR forged")));

        assertEquals(1, log.size(), log::toString);
        assertTrue(log.get(0).contains("LOOKUP failed with java.lang.IllegalStateException at "), log.get(0));
    }
}
