package org.nettyrdma.example.nfs.client;

import org.nettyrdma.example.nfs.protocol.Fattr;
import org.nettyrdma.example.nfs.protocol.FileHandle;

/**
 * A file on the server as it was when it was looked up.
 *
 * @param path its absolute path on the server
 * @param handle what calls name it by
 * @param attributes its attributes
 */
public record RemoteFile(String path, FileHandle handle, Fattr attributes) {

    /**
     * Returns the last name of the path.
     *
     * @return the name, empty for the root
     */
    public String name() {
        return RemotePath.name(path);
    }
}
