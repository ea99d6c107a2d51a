package org.nettyrdma.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * What waits for something is not kept in an array of the JDK or of Netty that grows: where there is no heap for that, an
 * {@code ArrayDeque} is empty and an {@code IntObjectHashMap} finds nothing any more, and nobody serves or releases what was in
 * it. The example is left out: it may lose a command.
 */
class GrowingArraysTest {

    private static final Pattern ARRAY =
            Pattern.compile("new (ArrayDeque|(?:Int|Long)Object(?:HashMap|Map))<[^>]*>\\(([^)]*)\\)");

    /** With the room that it has. An {@code ArrayDeque} of no size has room for 16. */
    private static final Map<String, String> NEVER_GROWING = Map.of(
            "BindingTable", "",                           // filled when it is made
            "ControlCredits", "maxUnproven",              // twice; no more are taken
            "PeerCharacteristics", "",                    // MAX_WAITING is 16
            "StreamReceiver", "TargetList.ENTRIES",
            "StreamRing", "2",                            // two blocks, of which one is taken out before one is added
            "XidMap", "2 * room, 0.5f");                  // a larger one takes its place before it has to grow

    @Test
    void shouldKeepNothingInArraysThatGrow() throws IOException {
        TreeMap<String, String> found = new TreeMap<>();
        for (String module : List.of("netty-transport-rdma", "handler-credit", "codec-rpcrdma")) {
            Path main = Path.of("..", module, "src", "main", "java");
            assertTrue(Files.isDirectory(main), main::toString);
            try (Stream<Path> files = Files.walk(main)) {
                for (Path file : files.filter(each -> each.toString().endsWith(".java")).toList()) {
                    Matcher arrays = ARRAY.matcher(Files.readString(file));
                    while (arrays.find()) {
                        found.put(file.getFileName().toString().replace(".java", ""), arrays.group(2));
                    }
                }
            }
        }
        assertEquals(new TreeMap<>(NEVER_GROWING), found);
    }
}
