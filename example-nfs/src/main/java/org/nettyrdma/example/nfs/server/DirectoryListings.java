package org.nettyrdma.example.nfs.server;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.nettyrdma.example.nfs.protocol.NfsStatus;

/**
 * Recent listings, so that a large directory is not read and sorted again for each piece of it that a client asks for.
 * Nothing depends on finding one here. Thread safe: the monitor guards the map; directories are read outside of it.
 */
final class DirectoryListings {

    private static final int MAX_LISTINGS = 32;

    private final FileTree tree;
    private final Map<FileId, DirectoryListing> listings = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<FileId, DirectoryListing> eldest) {
            return size() > MAX_LISTINGS;
        }
    };

    DirectoryListings(FileTree tree) {
        this.tree = tree;
    }

    /**
     * Lists a directory.
     *
     * @param fresh whether the listing begins, and must show all that happened before. Going on, the times of the directory
     *              decide; their steps are too coarse to show each change, which does not matter there
     */
    DirectoryListing of(FileObject directory, boolean fresh) throws IOException {
        FileId id = directory.node().id();
        if (!fresh) {
            DirectoryListing known = known(id);
            if (known != null && known.version().equals(directory.attributes().toWccAttr())) {
                return known;
            }
        }
        DirectoryListing listing = DirectoryListing.read(directory);
        // A directory on the way may have been replaced by a link after it was looked at.
        AccessControl.require(tree.isStillThere(directory), NfsStatus.STALE);
        synchronized (this) {
            listings.put(id, listing);
        }
        return listing;
    }

    private synchronized DirectoryListing known(FileId id) {
        return listings.get(id);
    }
}
