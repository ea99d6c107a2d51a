package org.nettyrdma.example.nfs.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.nettyrdma.codec.oncrpc.AuthSys;
import org.nettyrdma.example.nfs.ProviderChoice;
import org.nettyrdma.example.nfs.client.NfsClientOptions;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Options of all commands that talk to a server. */
final class RemoteOptions {

    private static final Path HOST_NAME = Path.of("/proc/sys/kernel/hostname");
    private static final int MILLIS_PER_SECOND = 1000;

    @Option(names = "--mount-port", paramLabel = "PORT", converter = NumberConverter.Port.class,
            description = "TCP port where the server answers MOUNT. Without it, MOUNT is asked on the connection itself, "
                    + "then on the port that the server's rpcbind names.")
    private Optional<Integer> mountPort = Optional.empty();

    @Option(names = "--rpcbind",
            description = "Ask the server's rpcbind for the port of NFS. What the address says of the port does not count.")
    private boolean rpcbind;

    @Option(names = "--uid", paramLabel = "ID", converter = NumberConverter.UserOrGroup.class,
            description = "User to be on the server; default: this process's.")
    private Optional<Integer> userId = Optional.empty();

    @Option(names = "--gid", paramLabel = "ID", converter = NumberConverter.UserOrGroup.class,
            description = "Group to be on the server; default: this process's.")
    private Optional<Integer> groupId = Optional.empty();

    @Option(names = "--timeout", paramLabel = "SECONDS", converter = NumberConverter.Seconds.class,
            description = "How long to wait for a connection, and for each reply, also while the server is away; "
                    + "default: 10 and 60.")
    private Optional<Integer> timeoutSeconds = Optional.empty();

    @Mixin
    private RdmaOptions rdma;

    NfsClientOptions toClientOptions() {
        NfsClientOptions options = new NfsClientOptions()
                .setCredential(credential().toOpaqueAuth())
                .setUsesRpcbind(rpcbind)
                .setProvider(ProviderChoice::provider)
                .setRdmaSettings(rdma.toSettings());
        timeoutSeconds.ifPresent(seconds -> options.setCallTimeoutMillis(seconds * MILLIS_PER_SECOND)
                .setConnectTimeoutMillis(seconds * MILLIS_PER_SECOND));
        mountPort.ifPresent(options::setMountPort);
        return options;
    }

    /** Whether commands are user 0 to the server, if it lets them. */
    boolean isRoot() {
        return userId.orElseGet(() -> ProcessUser.current().userId()) == 0;
    }

    private AuthSys credential() {
        ProcessUser process = ProcessUser.current();
        // Further groups belong to the process's user, not to one that was named.
        List<Integer> groups = userId.isPresent() ? List.of()
                : process.groupIds().stream().limit(AuthSys.MAX_GROUPS).toList();
        return new AuthSys(0, machineName(), userId.orElse(process.userId()), groupId.orElse(process.groupId()), groups);
    }

    /** Not from InetAddress, which may wait for a name server. Servers use the name for their logs at most. */
    private static String machineName() {
        try {
            return Files.readString(HOST_NAME).strip();
        } catch (IOException e) {
            return "localhost";
        }
    }
}
