package org.nettyrdma.codec.oncrpc;

/** A program of which there is version 1 only. */
public interface SingleVersionProgram extends RpcProgram {

    @Override
    default int lowestVersion() {
        return 1;
    }

    @Override
    default int highestVersion() {
        return 1;
    }
}
