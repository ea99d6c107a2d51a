package org.nettyrdma.example.nfs.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ProcessUserTest {

    @Test
    void shouldBeWhomTheSystemSays() throws IOException {
        ProcessUser current = ProcessUser.current();
        assertEquals(Files.getAttribute(Path.of("/proc/self/stat"), "unix:uid"), current.userId());
        assertEquals(Files.getAttribute(Path.of("/proc/self/stat"), "unix:gid"), current.groupId());
    }

    @Test
    void shouldHaveTheEffectiveUserAndGroupAndAllFurtherGroups() {
        List<String> status = List.of("Name:\tj\u00ffva", "Uid:\t1\t4242\t3\t4", "Gid:\t5\t4294967294\t7\t8", "FDSize:\t64");
        assertEquals(new ProcessUser(4242, -2, List.of(10, 4294967)),
                ProcessUser.of(Stream.concat(status.stream(), Stream.of("Groups:\t10 4294967 ")).toList()));
        assertEquals(new ProcessUser(4242, -2, List.of()),
                ProcessUser.of(Stream.concat(status.stream(), Stream.of("Groups:\t ")).toList()));
    }
}
