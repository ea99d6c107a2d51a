package org.nettyrdma.example.nfs.client;

import java.io.IOException;
import java.nio.file.FileSystemException;

/** Is told what fails for one of many files, and decides whether the rest is done. Called from several threads at once. */
@FunctionalInterface
public interface FailureListener {

    /** Something that is done for one of many files. */
    @FunctionalInterface
    interface Part {

        /**
         * Does it.
         *
         * @throws IOException why it failed
         */
        void run() throws IOException;
    }

    /**
     * Something failed for a file, or for a directory with what is in it.
     *
     * @param failure why; the message names the file
     * @throws IOException to end with the rest undone, usually {@code failure}
     */
    void failed(IOException failure) throws IOException;

    /**
     * Does a part, and tells where it fails for its file. What fails for the others, too, is not told but thrown: a full or
     * read-only file system, or a lost connection.
     *
     * @param part what to do
     * @throws IOException why nothing more can be done
     */
    default void attempt(Part part) throws IOException {
        try {
            part.run();
        } catch (NfsException | FileSystemException e) {
            if (e instanceof NfsException refusal ? refusal.isOfAll() : LocalFailures.isOfAll((FileSystemException) e)) {
                throw e;
            }
            failed(e);
        }
    }
}
