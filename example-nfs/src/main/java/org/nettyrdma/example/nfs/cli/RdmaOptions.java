package org.nettyrdma.example.nfs.cli;

import org.nettyrdma.codec.rpcrdma.VersionPolicy;
import org.nettyrdma.example.nfs.RdmaSettings;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** Options of all commands that connect over RDMA or let others do so. */
final class RdmaOptions {

    @Option(names = "--credits", paramLabel = "CALLS", defaultValue = "128", converter = NumberConverter.Credits.class,
            description = "Calls of an RDMA connection in progress at once, granted or asked for, 1 to 1024; default: "
                    + "${DEFAULT-VALUE}.")
    private int credits;

    @Option(names = "--checksum",
            description = "Protect RDMA connections with CRC32C; default: only if the other side asks for it.")
    private boolean checksum;

    @Option(names = "--rpcrdma", paramLabel = "v1|v2|prefer-v2", defaultValue = "v1", converter = VersionsConverter.class,
            description = "Version of RPC-over-RDMA: to call in, or to accept. prefer-v2 is both: v2 where the other side "
                    + "speaks it; default: ${DEFAULT-VALUE}.")
    private VersionPolicy versions;

    RdmaSettings toSettings() {
        return new RdmaSettings(credits, checksum, versions);
    }

    static final class VersionsConverter implements ITypeConverter<VersionPolicy> {

        @Override
        public VersionPolicy convert(String value) {
            return switch (value) {
                case "v1" -> VersionPolicy.V1_ONLY;
                case "v2" -> VersionPolicy.V2_ONLY;
                case "prefer-v2" -> VersionPolicy.PREFER_V2;
                default -> throw new TypeConversionException("'" + value + "' is none of v1, v2, prefer-v2");
            };
        }
    }
}
