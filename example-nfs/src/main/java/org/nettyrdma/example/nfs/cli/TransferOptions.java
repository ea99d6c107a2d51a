package org.nettyrdma.example.nfs.cli;

import org.nettyrdma.example.nfs.client.CopyOptions;
import picocli.CommandLine.Option;

/** Options of commands that move data. */
class TransferOptions {

    @Option(names = "--outstanding", paramLabel = "CALLS", defaultValue = "8", converter = NumberConverter.OutstandingCalls.class,
            description = "READ or WRITE calls of one file on their way at the same time, 1 to 1024; default: ${DEFAULT-VALUE}.")
    private int callsPerFile;

    @Option(names = "--transfer-size", paramLabel = "BYTES", defaultValue = "1048576",
            converter = NumberConverter.TransferBytes.class,
            description = "Data of one READ or WRITE call, 1 to 1048576; default: ${DEFAULT-VALUE}.")
    private int transferBytes;

    CopyOptions toCopyOptions() {
        return new CopyOptions().setCallsPerFile(callsPerFile).setMaxTransferBytes(transferBytes);
    }
}
