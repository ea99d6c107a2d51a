package org.nettyrdma.example.nfs.client;

import static io.netty.util.internal.ObjectUtil.checkPositive;

import org.nettyrdma.example.nfs.Transport;

/** How much of a copy is on its way at the same time. Not thread safe while it is being set. */
public final class CopyOptions {

    private int callsPerFile = 8;
    private int filesAtOnce = 4;
    private int maxTransferBytes = Transport.MAX_DATA_BYTES;
    private CopyListener listener = CopyListener.NONE;
    private boolean keepsTargetAttributes;

    /** Creates options with their defaults. */
    public CopyOptions() {
    }

    /**
     * Sets how many READ or WRITE calls of one file may wait for their replies; the default is 8. Too few leave the
     * connection idle; each takes a buffer of the size of a transfer.
     *
     * @param calls number of calls, more than 0
     * @return this
     */
    public CopyOptions setCallsPerFile(int calls) {
        callsPerFile = checkPositive(calls, "callsPerFile");
        return this;
    }

    /**
     * Sets how many files are copied at the same time, each on a thread of its own; the default is 4.
     *
     * @param files number of files, more than 0
     * @return this
     */
    public CopyOptions setFilesAtOnce(int files) {
        filesAtOnce = checkPositive(files, "filesAtOnce");
        return this;
    }

    /**
     * Sets the size of READ and WRITE calls; the default is {@link Transport#MAX_DATA_BYTES}. A server that takes less gets
     * less.
     *
     * @param bytes number of bytes, 1 to {@link Transport#MAX_DATA_BYTES}; larger values count as that
     * @return this
     */
    public CopyOptions setMaxTransferBytes(int bytes) {
        maxTransferBytes = Math.min(checkPositive(bytes, "maxTransferBytes"), Transport.MAX_DATA_BYTES);
        return this;
    }

    /**
     * Sets who is told how the copy goes; the default is nobody.
     *
     * @param newListener is told
     * @return this
     */
    public CopyOptions setListener(CopyListener newListener) {
        listener = newListener;
        return this;
    }

    /**
     * Sets whether the directory that is copied to stays as it is, but for what is in it; the default is that it gets mode and
     * time of the directory that is copied, as those in it do.
     *
     * @param keeps whether it keeps its own
     * @return this
     */
    public CopyOptions setKeepsTargetAttributes(boolean keeps) {
        keepsTargetAttributes = keeps;
        return this;
    }

    boolean keepsTargetAttributes() {
        return keepsTargetAttributes;
    }

    int callsPerFile() {
        return callsPerFile;
    }

    int filesAtOnce() {
        return filesAtOnce;
    }

    /** The size of READ and WRITE calls to a server that takes no more than this, an unsigned 32-bit number. */
    int transferBytes(long serverMaximum) {
        return (int) Math.max(1, Math.min(serverMaximum, maxTransferBytes));
    }

    CopyListener listener() {
        return listener;
    }
}
