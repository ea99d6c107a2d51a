package org.nettyrdma.example.nfs.cli;

import org.nettyrdma.example.nfs.RdmaSettings;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** Options of all commands that connect over RDMA or let others do so. */
final class RdmaOptions {

    @Option(names = "--credits", paramLabel = "CALLS", defaultValue = "128", converter = CreditsConverter.class,
            description = "Calls of an RDMA connection in progress at once, granted or asked for, 1 to 1024; default: ${DEFAULT-VALUE}.")
    private int credits;

    @Option(names = "--checksum", description = "Protect RDMA connections with CRC32C; default: only if the other side asks for it.")
    private boolean checksum;

    RdmaSettings toSettings() {
        return new RdmaSettings(credits, checksum);
    }

    static final class CreditsConverter implements ITypeConverter<Integer> {

        @Override
        public Integer convert(String value) {
            try {
                return new RdmaSettings(Integer.parseInt(value), false).credits();
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException("'" + value + "' is not a number from 1 to 1024");
            }
        }
    }
}
