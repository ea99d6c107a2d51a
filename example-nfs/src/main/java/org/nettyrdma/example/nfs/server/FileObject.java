package org.nettyrdma.example.nfs.server;

import java.nio.file.Path;
import org.nettyrdma.example.nfs.protocol.Fattr;
import org.nettyrdma.example.nfs.protocol.FileType;
import org.nettyrdma.example.nfs.protocol.NfsStatus;

/**
 * A file that was found where it is said to be. Good for as long as the name lock is held.
 *
 * @param node       the file
 * @param path       one of its paths, which leads to a place inside of the export
 * @param attributes its attributes when it was found
 */
record FileObject(FileNode node, Path path, Fattr attributes) {

    /** Whether it is a pipe, a socket or a device: to open it may wait for another process, or do something. */
    boolean isSpecial() {
        return switch (attributes.type()) {
            case REGULAR, DIRECTORY, SYMBOLIC_LINK -> false;
            case BLOCK_DEVICE, CHARACTER_DEVICE, SOCKET, FIFO -> true;
        };
    }

    FileObject requireDirectory() throws NfsException {
        AccessControl.require(attributes.isDirectory(), NfsStatus.NOTDIR);
        return this;
    }

    FileObject requireRegular() throws NfsException {
        AccessControl.require(attributes.type() == FileType.REGULAR, NfsStatus.INVAL);
        return this;
    }
}
