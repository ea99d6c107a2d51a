package org.nettyrdma.example.nfs.siege;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The short form of {@code fuzz/siege}: some of its attacks, two seconds each, on a machine that does other things as well. */
@Timeout(300)
class ServerSiegeTest {

    private static final List<Attack> ATTACKS = List.of(Attack.MALFORMED_HEADERS, Attack.UNANSWERED_READS);
    /** Of the latencies only what stands still counts here. */
    private static final List<Double> FLOOR_MILLIS = List.of(1000.0, 3000.0);

    @TempDir
    private Path directory;

    @Test
    void shouldServeOthersWhileAndAfterItIsAttacked() throws Exception {
        ByteArrayOutputStream table = new ByteArrayOutputStream();
        List<String> missed = Siege.run(new PrintStream(table, true, StandardCharsets.UTF_8), directory, 2, 1, FLOOR_MILLIS,
                ATTACKS);
        assertEquals(List.of(), missed, () -> table.toString(StandardCharsets.UTF_8));
    }
}
