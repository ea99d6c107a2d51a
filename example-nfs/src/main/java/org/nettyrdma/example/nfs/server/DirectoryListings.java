package org.nettyrdma.example.nfs.server;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.nettyrdma.example.nfs.protocol.WccAttr;

/**
 * Recent listings, so that a large directory is not read and sorted again for each piece of it that a client asks for, nor for
 * each client that begins. Nothing depends on finding one here. Bounded in bytes. Thread safe: the monitor guards the listings;
 * directories are read outside of it.
 *
 * <p>A listing is good as long as the times of its directory are the same. They do not move with each change, but in steps: what
 * changes within the step in which the directory was read does not show. A client that goes on in a listing does not mind. One
 * that begins must see all that happened before; it gets a listing that was read when the step was over.
 */
final class DirectoryListings {

    /** How much memory one listing takes; of a larger directory it has the beginning. */
    static final long MAX_LISTING_BYTES = 16 << 20;

    private static final long MAX_BYTES = 2 * MAX_LISTING_BYTES;
    private static final int MAX_LISTINGS = 32;
    /** Longer than the clock tick by which kernels stamp changes. */
    private static final long STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
    /** Of file systems that keep no more than full seconds, some of them even ones. */
    private static final long COARSE_STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(2500);

    /** A listing, when its directory was seen first as it was then, and when it was read. */
    private record Kept(FileId directory, DirectoryListing listing, long seenNanos, long readNanos) {
        private boolean isSettled() {
            WccAttr version = listing.version();
            boolean isCoarse = version.modifyTime().nanoseconds() == 0 && version.changeTime().nanoseconds() == 0;
            return readNanos - seenNanos > (isCoarse ? COARSE_STEP_NANOS : STEP_NANOS);
        }
    }

    private final FileTree tree;
    private final long maxListingBytes;
    private final LongSupplier nanoClock;
    /** The one used last is the first. */
    private final Deque<Kept> listings = new ArrayDeque<>();
    private long bytes;

    /**
     * @param maxListingBytes how much memory one listing may take
     */
    DirectoryListings(FileTree tree, long maxListingBytes, LongSupplier nanoClock) {
        this.tree = tree;
        this.maxListingBytes = maxListingBytes;
        this.nanoClock = nanoClock;
    }

    /**
     * Lists what is behind a cookie in a directory, or the first part of that.
     *
     * @param fresh whether the listing begins, and must show all that happened before
     */
    DirectoryListing behind(long cookie, FileObject directory, boolean fresh) throws IOException {
        Kept known = find(directory, cookie);
        if (known != null && (!fresh || known.isSettled())) {
            return known.listing();
        }
        long readNanos = nanoClock.getAsLong();
        DirectoryListing listing = DirectoryListing.read(directory, cookie, maxListingBytes);
        // A directory on the way may have been replaced by a link after it was looked at.
        AccessControl.require(tree.isStillThere(directory), NfsStatus.STALE);
        keep(new Kept(directory.node().id(), listing, known == null ? readNanos : known.seenNanos(), readNanos));
        return listing;
    }

    /** The listing of a directory as it is that has the name behind a cookie. Forgets those of what it was before. */
    private synchronized Kept find(FileObject directory, long cookie) {
        WccAttr version = directory.attributes().toWccAttr();
        Kept found = null;
        for (Iterator<Kept> all = listings.iterator(); all.hasNext();) {
            Kept kept = all.next();
            if (kept.directory().equals(directory.node().id())) {
                boolean isOld = !kept.listing().version().equals(version);
                if (isOld || found == null && kept.listing().hasNext(cookie)) {
                    found = isOld ? found : kept;
                    bytes -= kept.listing().bytes();
                    all.remove();
                }
            }
        }
        if (found != null) {
            add(found);
        }
        return found;
    }

    private synchronized void keep(Kept kept) {
        listings.removeIf(other -> {
            boolean isSame = other.directory().equals(kept.directory()) && other.listing().start() == kept.listing().start();
            bytes -= isSame ? other.listing().bytes() : 0;
            return isSame;
        });
        add(kept);
        while (bytes > MAX_BYTES || listings.size() > MAX_LISTINGS) {
            bytes -= listings.removeLast().listing().bytes();
        }
    }

    private void add(Kept kept) {
        listings.addFirst(kept);
        bytes += kept.listing().bytes();
    }
}
