package org.nettyrdma.example.nfs.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.security.auth.module.UnixSystem;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.testing.Jvm;

/** A process that may do with files what their modes say, also where its user is root, who has to give up rights for that. */
final class ProcessWithoutRights {

    private static final List<String> WITHOUT_RIGHTS = List.of("setpriv", "--bounding-set", "-all", "--inh-caps", "-all");

    private ProcessWithoutRights() {
    }

    static boolean isUserRoot() {
        return new UnixSystem().getUid() == 0;
    }

    /** Runs the {@code main} of a class and fails with what it printed unless that ends well. */
    static void run(Class<?> type, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        if (isUserRoot()) {
            command.addAll(WITHOUT_RIGHTS);
            command.add("true");
            assumeTrue(new ProcessBuilder(command).start().waitFor() == 0, "root cannot give up its rights here");
            command.remove("true");
        }
        command.addAll(Jvm.command(List.of("-XX:TieredStopAtLevel=1"), type, arguments));
        Path output = Files.createTempFile("without-rights", ".txt");
        try {
            Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile()).start();
            assertTrue(process.waitFor(60, TimeUnit.SECONDS), "the process did not end");
            assertEquals(0, process.exitValue(), Files.readString(output, StandardCharsets.UTF_8));
        } finally {
            Files.delete(output);
        }
    }
}
