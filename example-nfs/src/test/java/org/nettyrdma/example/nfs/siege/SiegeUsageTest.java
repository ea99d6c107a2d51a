package org.nettyrdma.example.nfs.siege;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.nettyrdma.testing.Jvm;

/** What the siege says of mistakes. */
class SiegeUsageTest {

    @Test
    void shouldSayWhichAttacksThereAre() throws Exception {
        Process siege = new ProcessBuilder(Jvm.command(List.of(), Siege.class, "1", "1", "unread-replies", "no-such-attack"))
                .redirectErrorStream(true).start();
        String output = new String(siege.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertTrue(siege.waitFor(60, TimeUnit.SECONDS));
        assertEquals(2, siege.exitValue(), output);
        assertTrue(output.startsWith("fuzz/siege: an attack is one of ["), output);
        assertTrue(output.contains("unread-replies, "), output);
    }
}
