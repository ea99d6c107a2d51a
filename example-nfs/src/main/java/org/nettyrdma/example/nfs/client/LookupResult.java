package org.nettyrdma.example.nfs.client;

import org.nettyrdma.example.nfs.protocol.Fattr;
import org.nettyrdma.example.nfs.protocol.FileHandle;

/**
 * A file that LOOKUP found, or that CREATE, MKDIR, SYMLINK or MKNOD made.
 *
 * @param handle the file; {@code null} if a server that made it does not tell, which RFC 1813 allows
 * @param attributes its attributes; {@code null} if the server does not tell
 */
public record LookupResult(FileHandle handle, Fattr attributes) {
}
