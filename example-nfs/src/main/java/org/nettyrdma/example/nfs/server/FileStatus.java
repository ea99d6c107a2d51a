package org.nettyrdma.example.nfs.server;

import org.nettyrdma.example.nfs.protocol.Fattr;

/**
 * A file as the file system shows it.
 *
 * @param id         which file it is
 * @param attributes its attributes
 */
record FileStatus(FileId id, Fattr attributes) {
}
