package org.nettyrdma.example.nfs.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nettyrdma.testing.Jvm;

/** What a server whose heap is small keeps for clients, in a process of its own. */
@Timeout(60)
class SmallHeapTest {

    /** Of {@code nfs serve} on one or two processors. */
    private static final int THREADS = 5;

    /** Prints the heap, and what files that are known and one listing may take of it. */
    public static void main(String[] arguments) {
        System.out.println(Runtime.getRuntime().maxMemory() + " " + NfsServiceOptions.DEFAULTS.knownFileBytes() + " "
                + DirectoryListings.MAX_LISTING_BYTES);
    }

    @Test
    void shouldLeaveMostOfTheHeapBesidesListingsAndKnownFiles() throws IOException, InterruptedException {
        Process process = new ProcessBuilder(Jvm.command(List.of("-Xmx64m"), SmallHeapTest.class))
                .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).trim();
        assertEquals(0, process.waitFor(), said);
        long[] bytes = Arrays.stream(said.split(" ")).mapToLong(Long::parseLong).toArray();
        long listings = (2 + THREADS) * bytes[2]; // two that are kept, and those that are being made
        assertTrue(bytes[1] + listings <= bytes[0] / 3, () -> said + ": " + listings + " bytes for listings");
    }
}
