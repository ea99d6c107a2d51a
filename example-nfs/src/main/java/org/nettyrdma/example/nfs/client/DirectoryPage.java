package org.nettyrdma.example.nfs.client;

import java.util.List;
import org.nettyrdma.example.nfs.protocol.DirectoryEntry;

/**
 * One reply of READDIR or READDIRPLUS.
 *
 * @param cookieVerifier goes into the next call for the same directory
 * @param entries names in the server's order; the next call goes on behind the cookie of the last one
 * @param endOfDirectory whether nothing follows
 */
public record DirectoryPage(long cookieVerifier, List<DirectoryEntry> entries, boolean endOfDirectory) {

    /**
     * Keeps a copy of the entries.
     *
     * @param cookieVerifier goes into the next call
     * @param entries names in the server's order
     * @param endOfDirectory whether nothing follows
     */
    public DirectoryPage {
        entries = List.copyOf(entries);
    }
}
