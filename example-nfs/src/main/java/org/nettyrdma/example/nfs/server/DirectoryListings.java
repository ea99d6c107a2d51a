package org.nettyrdma.example.nfs.server;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.nettyrdma.example.nfs.protocol.FileHandle;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.nettyrdma.example.nfs.protocol.WccAttr;

/**
 * Recent listings, so that a large directory is not read and sorted again for each piece of it that a client asks for, nor for
 * each client that begins. Nothing depends on finding one here. Bounded in bytes. Thread safe: the monitor guards the listings;
 * directories are read outside of it.
 *
 * <p>A client that begins must see all that happened before. So it gets a listing that was read when the times of the directory
 * were what they are now. These times do not move with each change, but in steps: what changes within the step in which the
 * directory was read does not show. So the listing was also read when that step was over.
 *
 * <p>A client that goes on need not see what others create meanwhile, and names that are gone are left out when it is answered.
 * So it may get a listing that is a little old, but none from before another one began: the two may be the same. Without that
 * a large directory in which files come and go would be read anew for each piece of it.
 */
final class DirectoryListings {

    /**
     * How much memory one listing takes; of a larger directory it has the beginning. Each thread of the server may be making one
     * besides those that are kept.
     */
    static final long MAX_LISTING_BYTES = Math.min(16 << 20, Runtime.getRuntime().maxMemory() / 64);

    private static final long MAX_BYTES = 2 * MAX_LISTING_BYTES;
    /** More than a client lists at less cost than it takes to read a large directory anew. All are looked through. */
    private static final int MAX_LISTINGS = 256;
    /** Longer than the clock tick by which kernels stamp changes. */
    private static final long STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
    /** Of file systems that keep no more than full seconds, some of them even ones. */
    private static final long COARSE_STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(2500);
    /** How long clients go on in a listing of a directory that has changed: several times what reading the largest takes. */
    private static final long MAX_AGE_NANOS = TimeUnit.SECONDS.toNanos(5);

    /** A listing, when its directory was seen first as it was then, and when it was read. */
    private record Kept(FileId directory, DirectoryListing listing, long seenNanos, long readNanos) {
        private boolean isSettled() {
            WccAttr version = listing.version();
            boolean isCoarse = version.modifyTime().nanoseconds() == 0 && version.changeTime().nanoseconds() == 0;
            return readNanos - seenNanos > (isCoarse ? COARSE_STEP_NANOS : STEP_NANOS);
        }

        /** Whether it is as new as another one of the directory, and has the same place or tells that a client has begun. */
        private boolean replaces(Kept other) {
            boolean isBeginning = listing.start() == 0;
            return directory.equals(other.directory()) && readNanos - other.readNanos() >= 0
                    && (isBeginning || listing.start() == other.listing().start());
        }
    }

    private final FileTree tree;
    private final long maxListingBytes;
    private final LongSupplier nanoClock;
    /** Of several calls that want a directory read one reads it; the others take a listing that was begun after they came. */
    private final FileLocks reads = new FileLocks();
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
     * Lists what is behind a cookie in a directory, or the first part of that. The caller has no lock of names: to read a large
     * directory takes seconds.
     *
     * @param fresh whether the listing begins, and must show all that happened before
     */
    DirectoryListing behind(long cookie, FileObject directory, boolean fresh) throws IOException {
        long calledNanos = nanoClock.getAsLong();
        Kept known = find(directory, cookie, fresh, calledNanos);
        if (known != null && (!fresh || known.isSettled())) {
            return known.listing();
        }
        FileLocks.Held reading = reads.exclusive(directory.node().id());
        try {
            known = find(directory, cookie, fresh, calledNanos);
            boolean isReadMeanwhile = known != null && (!fresh || known.isSettled() || known.readNanos() - calledNanos > 0);
            return isReadMeanwhile ? known.listing() : read(cookie, directory, known);
        } finally {
            reading.release();
        }
    }

    private DirectoryListing read(long cookie, FileObject directory, Kept known) throws IOException {
        long readNanos = nanoClock.getAsLong();
        try (Opened opened = tree.withNames(() -> open(directory.node().handle()))) {
            DirectoryListing listing =
                    DirectoryListing.read(opened.paths(), opened.version(), cookie, maxListingBytes, tree.cookies());
            boolean isAsSeen = known != null && known.listing().version().equals(opened.version());
            keep(new Kept(directory.node().id(), listing, isAsSeen ? known.seenNanos() : readNanos, readNanos));
            return listing;
        }
    }

    /** A directory that is read wherever it is by now. */
    private record Opened(DirectoryStream<Path> paths, WccAttr version) implements Closeable {
        @Override
        public void close() throws IOException {
            paths.close();
        }
    }

    private Opened open(FileHandle handle) throws IOException {
        FileObject directory = tree.locate(handle).requireDirectory();
        DirectoryStream<Path> paths = Files.newDirectoryStream(directory.path());
        try {
            // A directory on the way may have been replaced by a link after it was looked at.
            AccessControl.require(tree.isStillThere(directory), NfsStatus.STALE);
        } catch (IOException | RuntimeException e) {
            paths.close();
            throw e;
        }
        return new Opened(paths, directory.attributes().toWccAttr());
    }

    /**
     * The listing of a directory that has the name behind a cookie. Forgets those that are too old: to begin with, one of the
     * directory as it was before, unless it was read since the call came, when the directory may have been looked up before that.
     */
    private synchronized Kept find(FileObject directory, long cookie, boolean fresh, long calledNanos) {
        WccAttr version = directory.attributes().toWccAttr();
        long nowNanos = nanoClock.getAsLong();
        Kept found = null;
        for (Iterator<Kept> all = listings.iterator(); all.hasNext();) {
            Kept kept = all.next();
            if (kept.directory().equals(directory.node().id())) {
                boolean hasChanged = !kept.listing().version().equals(version);
                boolean isOld = hasChanged && (fresh ? kept.readNanos() - calledNanos <= 0
                        : nowNanos - kept.readNanos() > MAX_AGE_NANOS);
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
            boolean isReplaced = kept.replaces(other);
            bytes -= isReplaced ? other.listing().bytes() : 0;
            return isReplaced;
        });
        if (listings.stream().noneMatch(other -> other.replaces(kept))) {
            add(kept);
        }
        while (bytes > MAX_BYTES || listings.size() > MAX_LISTINGS) {
            bytes -= listings.removeLast().listing().bytes();
        }
    }

    private void add(Kept kept) {
        listings.addFirst(kept);
        bytes += kept.listing().bytes();
    }
}
