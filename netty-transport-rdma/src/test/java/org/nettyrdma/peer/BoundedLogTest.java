package org.nettyrdma.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What a peer can cause is logged by {@link PeerLog}, in all modules. */
class BoundedLogTest {

    private static final Pattern UNBOUNDED = Pattern.compile("\\b(?:LOGGER|logger|log)\\s*\\.(?:info|warn|error)\\(");

    /**
     * Where a line is written without it, because no peer can cause it, or not often: at the start, at the end, for each device,
     * each listener or each failure of the provider as a whole, once, or with a bound of its own. A command of the example
     * tells its user of each connection that it makes again.
     */
    private static final Set<String> NOT_BY_PEERS = Set.of("BlockPool", "BoundSocket", "CallRunner", "Device", "FaultLog",
            "FileSearch", "HostProof", "OwnBlocks", "PeerLog", "ProviderChoice", "Rdma", "RdmaEventLoop", "RdmaIo",
            "RpcbindRegistrations", "ServerConnection", "SharedDirectory", "Slab", "TrimTimer", "WorkQueues");

    @Test
    void shouldWriteWhatPeersCauseWithABound() throws IOException {
        TreeMap<String, Integer> found = new TreeMap<>();
        for (Path module : modules()) {
            try (Stream<Path> files = Files.walk(module)) {
                for (Path file : files.filter(each -> each.toString().endsWith(".java")).toList()) {
                    int count = (int) UNBOUNDED.matcher(Files.readString(file)).results().count();
                    if (count > 0) {
                        found.merge(file.getFileName().toString().replace(".java", ""), count, Integer::sum);
                    }
                }
            }
        }
        assertEquals(new TreeSet<>(NOT_BY_PEERS), found.keySet());
        assertEquals(3, found.get("RdmaIo"), "the provider has failed, and cannot be opened; and what nobody foresees");
        assertEquals(1, found.get("RdmaEventLoop"), "a loop that ends before its peers");
        assertEquals(1, found.get("CallRunner"), "the first failure of a program");
        assertEquals(1, found.get("FileSearch"), "a search that has taken long, behind which comes a rest of ten times as long");
    }

    private static List<Path> modules() throws IOException {
        List<Path> sources = new ArrayList<>();
        for (String module : List.of("netty-transport-rdma", "netty-transport-rdma-iohandler", "handler-credit", "codec-rpcrdma",
                "example-nfs")) {
            Path main = Path.of("..", module, "src", "main", "java");
            assertTrue(Files.isDirectory(main), main::toString);
            sources.add(main);
        }
        return sources;
    }
}
