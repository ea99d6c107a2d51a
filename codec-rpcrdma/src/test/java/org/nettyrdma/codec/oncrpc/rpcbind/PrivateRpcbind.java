package org.nettyrdma.codec.oncrpc.rpcbind;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Debian's rpcbind with a network and a {@code /run} of its own, so that it neither meets nor disturbs the machine's. Its socket
 * is reached through the file system, which needs no network. Only the superuser can do all that; tests skip without it.
 */
public final class PrivateRpcbind implements AutoCloseable {

    private static final Path RPCBIND = Path.of("/usr/sbin/rpcbind");
    private static final long TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(30);
    private static final String START =
            "mount -t tmpfs tmpfs /run && mkdir -m 777 /run/rpcbind && ip link set lo up && exec rpcbind -f";

    private final Process process;

    private PrivateRpcbind(Process process) {
        this.process = process;
    }

    public static PrivateRpcbind start() throws Exception {
        assumeTrue(Files.isExecutable(RPCBIND), "rpcbind is not installed");
        assumeTrue(run(List.of("unshare", "--net", "--mount", "true")).exitValue() == 0, "needs the superuser");
        PrivateRpcbind rpcbind = new PrivateRpcbind(new ProcessBuilder("unshare", "--net", "--mount", "sh", "-c", START)
                .redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD).start());
        // Another process has no other way to say that it listens.
        long start = System.nanoTime();
        while (Files.notExists(rpcbind.socket()) || !rpcbind.rpcinfo().contains("portmapper")) {
            assertTrue(rpcbind.process.isAlive() && System.nanoTime() - start < TIMEOUT_NANOS, "rpcbind does not answer");
            Thread.onSpinWait();
        }
        return rpcbind;
    }

    /** The socket as it is seen from outside. */
    public Path socket() {
        return Path.of("/proc/" + process.pid() + "/root/run/rpcbind.sock");
    }

    /** What {@code rpcinfo} of libtirpc lists, one space between columns. */
    public String rpcinfo(String... options) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("rpcinfo"));
        command.addAll(List.of(options));
        Process rpcinfo = run(besideRpcbind(command));
        return new String(rpcinfo.getInputStream().readAllBytes(), StandardCharsets.UTF_8).replaceAll(" +", " ");
    }

    /** A command that runs a command where rpcbind runs, with its network and its {@code /run}. */
    public List<String> besideRpcbind(List<String> command) {
        List<String> entered = new ArrayList<>(List.of("nsenter", "--target", Long.toString(process.pid()), "--net", "--mount"));
        entered.addAll(command);
        return entered;
    }

    private static Process run(List<String> command) throws IOException, InterruptedException {
        Process run = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
        assertTrue(run.waitFor(30, TimeUnit.SECONDS), "the process did not end");
        return run;
    }

    @Override
    public void close() {
        process.destroy();
        process.onExit().orTimeout(30, TimeUnit.SECONDS).join();
    }
}
