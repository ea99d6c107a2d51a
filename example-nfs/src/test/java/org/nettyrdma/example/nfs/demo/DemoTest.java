package org.nettyrdma.example.nfs.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionCounter;
import java.io.IOException;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.codec.rpcrdma.VersionPolicy;
import org.nettyrdma.example.nfs.CallRoutes;
import org.nettyrdma.example.nfs.RdmaSettings;
import org.nettyrdma.example.nfs.Transport;
import org.nettyrdma.example.nfs.client.CopyOptions;
import org.nettyrdma.example.nfs.client.NfsClientStatistics;
import org.nettyrdma.example.nfs.server.MemoryFileSystem;

class DemoTest {

    @ParameterizedTest
    @EnumSource(VersionPolicy.class)
    void shouldCopyThereAndBackAndCountEveryCallOnce(VersionPolicy versions) throws IOException {
        RdmaSettings settings = new RdmaSettings(128, false, versions);
        try (FileSystem memory = MemoryFileSystem.create(64 << 20); Demo demo = Demo.start(Transport.RDMA, settings, 64 << 20)) {
            Path source = DemoTree.writeSmall(Files.createDirectory(memory.getPath("/source")));
            Path copy = memory.getPath("/copy");
            TreeSnapshot expected = TreeSnapshot.of(source);
            demo.put(source, new CopyOptions());
            demo.get(copy, new CopyOptions());
            assertEquals(Optional.empty(), expected.firstDifference(TreeSnapshot.of(demo.servedTree())));
            assertEquals(Optional.empty(), expected.firstDifference(TreeSnapshot.of(copy)));

            double calls = demo.meters().get(NfsClientStatistics.CALLS).functionCounters().stream()
                    .mapToDouble(FunctionCounter::count).sum();
            double routes = demo.meters().get(CallRoutes.NAME).counters().stream().mapToDouble(Counter::count).sum();
            assertEquals(calls, routes);
            assertTrue(routes(demo, "write", "call", "read_chunk") > 0);
            assertTrue(routes(demo, "read", "reply", "write_chunk") > 0);
            assertTrue(routes(demo, "readdirplus", "reply", "inline") > 0);
            assertEquals(0, counter(demo, "rpcrdma.chunks.copied.bytes", "client"));
            assertEquals(0, counter(demo, "rpcrdma.chunks.copied.bytes", "server"));
            assertEquals(counter(demo, "rpcrdma.chunks.exposures", "client"),
                    counter(demo, "rpcrdma.chunks.remote.invalidations", "client"));
        }
    }

    @Test
    void shouldFindOneChangedByteOnTheServer() throws IOException {
        try (FileSystem memory = MemoryFileSystem.create(64 << 20);
                Demo demo = Demo.start(Transport.RDMA, RdmaSettings.DEFAULTS, 64 << 20)) {
            Path source = Files.createDirectory(memory.getPath("/source"));
            Files.write(source.resolve("file"), new byte[100_000]);
            demo.put(source, new CopyOptions());
            byte[] damaged = new byte[100_000];
            damaged[70_000] = 1;
            Files.write(demo.servedTree().resolve("file"), damaged);
            demo.get(memory.getPath("/copy"), new CopyOptions());
            String difference = TreeSnapshot.of(source).firstDifference(TreeSnapshot.of(memory.getPath("/copy"))).orElseThrow();
            assertTrue(difference.startsWith("file: SHA-256 is "), difference);
        }
    }

    @Test
    void shouldWriteTheSameTreeEachTime() throws IOException {
        try (FileSystem memory = MemoryFileSystem.create(64 << 20)) {
            TreeSnapshot first = TreeSnapshot.of(DemoTree.writeSmall(Files.createDirectory(memory.getPath("/first"))));
            TreeSnapshot second = TreeSnapshot.of(DemoTree.writeSmall(Files.createDirectory(memory.getPath("/second"))));
            assertEquals(first.entries().keySet(), second.entries().keySet());
            first.entries().forEach((name, entry) -> assertEquals(entry.content(), second.entries().get(name).content(), name));
        }
    }

    @Test
    void shouldDeleteATemporaryDirectoryThatCannotBeWrittenTo() throws IOException {
        Path path;
        try (TemporaryDirectory directory = TemporaryDirectory.create()) {
            path = directory.path();
            DemoTree.writeSmall(path);
        }
        assertTrue(Files.notExists(path));
    }

    private static double routes(Demo demo, String procedure, String tag, String value) {
        return demo.meters().get(CallRoutes.NAME).tags("procedure", procedure, tag, value).counters().stream()
                .mapToDouble(Counter::count).sum();
    }

    private static double counter(Demo demo, String name, String role) {
        return demo.meters().get(name).tag(Transport.ROLE_TAG, role).functionCounter().count();
    }
}
