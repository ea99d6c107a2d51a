package org.nettyrdma.example.nfs.cli;

import org.nettyrdma.example.nfs.client.CopyOptions;
import picocli.CommandLine.Option;

/** Options of commands that copy many files. */
final class TreeTransferOptions extends TransferOptions {

    @Option(names = "--files", paramLabel = "FILES", defaultValue = "4", converter = NumberConverter.FilesAtOnce.class,
            description = "Files copied at the same time, 1 to 256; default: ${DEFAULT-VALUE}.")
    private int filesAtOnce;

    @Override
    CopyOptions toCopyOptions() {
        return super.toCopyOptions().setFilesAtOnce(filesAtOnce);
    }
}
