package org.nettyrdma.example.nfs.client;

import java.io.IOException;

/** Is told how a copy goes. Called from several threads at once. */
public interface CopyListener extends FailureListener {

    /** Ignores everything. */
    CopyListener NONE = new CopyListener() {
        @Override
        public void copied(long bytes) {
            // Nobody wants to know.
        }

        @Override
        public void skipped(String path, String reason) {
            // Nobody wants to know.
        }
    };

    /**
     * Data of a file was copied.
     *
     * @param bytes how much more than at the last call
     */
    void copied(long bytes);

    /**
     * Something was left out that cannot be copied.
     *
     * @param path what was left out
     * @param reason why, as the end of a sentence
     */
    void skipped(String path, String reason);

    /**
     * A file that is not finished, or not needed any more, may be left on the server, which has not said that it is removed. By
     * default nobody wants to know.
     *
     * @param path the file, whose name no other copy takes
     */
    default void left(String path) {
    }

    /** By default a copy ends with the first failure. */
    @Override
    default void failed(IOException failure) throws IOException {
        throw failure;
    }
}
