package org.nettyrdma.example.nfs.cli;

import java.util.concurrent.TimeUnit;
import org.nettyrdma.example.nfs.ConnectionLimits;
import picocli.CommandLine.Option;

/** How many connections a server takes, and how long it keeps those that nobody uses. */
final class ConnectionOptions {

    @Option(names = "--max-connections", paramLabel = "N", converter = NumberConverter.Connections.class,
            description = "Connections of each transport at once, 1 to 1000000; default: what three eighths of the direct "
                    + "memory have receive buffers for, 64 to 16384.")
    private int maxConnections;

    @Option(names = "--max-connections-per-address", paramLabel = "N", converter = NumberConverter.Connections.class,
            description = "The same from one address, of IPv6 from the same 64 bits, 1 to 1000000; default: three quarters of "
                    + "all.")
    private int maxConnectionsPerAddress;

    @Option(names = "--idle-timeout", paramLabel = "SECONDS", defaultValue = "360",
            converter = NumberConverter.SecondsOrNever.class,
            description = "Close connections without traffic and calls after this time, 0 to 1000000, 0 for never; default: "
                    + "${DEFAULT-VALUE}.")
    private int idleSeconds;

    @Option(names = "--drain-timeout", paramLabel = "SECONDS", defaultValue = "5",
            converter = NumberConverter.SecondsOrNever.class,
            description = "At the end answer the calls that have come for at most this time, 0 to 1000000, 0 to close all "
                    + "connections at once; default: ${DEFAULT-VALUE}.")
    private int drainSeconds;

    long drainMillis() {
        return TimeUnit.SECONDS.toMillis(drainSeconds);
    }

    ConnectionLimits toLimits() {
        return new ConnectionLimits(maxConnections, maxConnectionsPerAddress, TimeUnit.SECONDS.toMillis(idleSeconds));
    }
}
