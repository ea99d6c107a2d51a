package org.nettyrdma.example.nfs.server;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.example.nfs.LocalNames;
import org.nettyrdma.example.nfs.protocol.DirectoryEntry;
import org.nettyrdma.example.nfs.protocol.Fattr;
import org.nettyrdma.example.nfs.protocol.FileHandle;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.nettyrdma.example.nfs.protocol.ReadDirectoryArguments;
import org.nettyrdma.example.nfs.protocol.ReadDirectoryPlusArguments;

/** READDIR and READDIRPLUS (RFC 1813, sections 3.3.16 and 3.3.17). See {@link DirectoryListing} for the cookies. */
final class DirectoryProcedures {

    /** How many names the system may go through for one result, which are some milliseconds: each entry has those of a path. */
    private static final int MAX_NAMES = 1 << 16;
    /** What else an entry costs, in names. */
    private static final int NAMES_OF_AN_ENTRY = 16;

    private final FileTree tree;
    private final DirectoryListings listings;
    private final int maxResultBytes;

    DirectoryProcedures(FileTree tree, int maxResultBytes, DirectoryListings listings) {
        this.tree = tree;
        this.listings = listings;
        this.maxResultBytes = maxResultBytes;
    }

    void readDirectory(NfsCall call) throws IOException {
        ReadDirectoryArguments arguments = ReadDirectoryArguments.read(call.arguments());
        list(call, arguments.directory(), arguments.cookie(), arguments.cookieVerifier(),
                new DirectoryResult(call, arguments.count(), Long.MAX_VALUE, false));
    }

    void readDirectoryPlus(NfsCall call) throws IOException {
        ReadDirectoryPlusArguments arguments = ReadDirectoryPlusArguments.read(call.arguments());
        list(call, arguments.directory(), arguments.cookie(), arguments.cookieVerifier(),
                new DirectoryResult(call, arguments.maxCount(), arguments.directoryCount(), true));
    }

    private static int maxEntries(FileObject directory) {
        return Math.max(1, MAX_NAMES / (NAMES_OF_AN_ENTRY + directory.path().getNameCount()));
    }

    private FileObject openDirectory(NfsCall call, FileHandle handle, AttributeSlot slot) throws IOException {
        slot.fill(null);
        FileObject directory = slot.fill(tree.locate(handle)).requireDirectory();
        AccessControl.requireList(call.caller(), directory.attributes());
        return directory;
    }

    /** Takes the lock of names itself, and not while a directory is read. */
    private void list(NfsCall call, FileHandle handle, long cookie, long verifier, DirectoryResult result) throws IOException {
        FileObject found = tree.withNames(() -> openDirectory(call, handle, result.slot));
        // Some clients send a cookie with a verifier of 0, and a cookie is good without one.
        boolean isVerified = verifier == tree.cookies().verifier() || verifier == 0;
        AccessControl.require(cookie == 0 || cookie > 0 && isVerified, NfsStatus.BAD_COOKIE);
        DirectoryListing listing = listings.behind(cookie, found, cookie == 0);
        long last = cookie;
        while (!isAnswered(call, handle, last, listing, result)) {
            last = listing.cookie(listing.size() - 1);
            listing = listings.behind(last, found, false);
        }
    }

    /** Returns {@code false} if all names are gone that were listed, and more are behind them. */
    private boolean isAnswered(NfsCall call, FileHandle handle, long cookie, DirectoryListing listing, DirectoryResult result)
            throws IOException {
        return tree.withNames(() -> {
            FileObject directory = openDirectory(call, handle, result.slot);
            boolean withFiles = result.plus && AccessControl.maySearch(call.caller(), directory.attributes());
            EntrySource entries = new EntrySource(directory, withFiles);
            result.begin(maxEntries(directory));
            boolean room = cookie != 0 || result.add(entries.of(FileNames.SELF, DirectoryListing.SELF_COOKIE));
            if (room && cookie < DirectoryListing.PARENT_COOKIE) {
                room = result.add(entries.of(FileNames.PARENT, DirectoryListing.PARENT_COOKIE));
            }
            room = room && addAll(listing, cookie, entries, result);
            boolean isAnswered = !room || listing.isEnd() || result.entries > 0;
            if (isAnswered) {
                result.finish(room && listing.isEnd());
            }
            return isAnswered;
        });
    }

    /** Returns whether all of them fit. */
    private static boolean addAll(DirectoryListing listing, long cookie, EntrySource entries, DirectoryResult result)
            throws IOException {
        boolean room = true;
        for (int i = listing.indexBehind(cookie); room && i < listing.size(); i++) {
            DirectoryEntry entry = entries.of(listing.name(i), listing.cookie(i));
            room = entry == null || result.add(entry);
        }
        return room;
    }

    /** Makes entries for the names of one directory. */
    private final class EntrySource {
        private final FileObject directory;
        private final boolean withFiles;

        private EntrySource(FileObject directory, boolean withFiles) {
            this.directory = directory;
            this.withFiles = withFiles;
        }

        /**
         * Returns {@code null} for a name that is gone since the directory was listed. One that cannot be looked at, such as a
         * mount point whose server is gone, or which is closed to this process, does not hide the others.
         */
        private DirectoryEntry of(String name, long cookie) throws IOException {
            if (FileNames.isDot(name)) {
                return entry(name, cookie, tree.lookup(directory, name));
            }
            try {
                if (withFiles) {
                    FileObject file = tree.childOrNull(directory, name);
                    return file == null ? null : entry(name, cookie, file);
                }
                FileStatus status = tree.readOrNull(LocalNames.child(directory.path(), name));
                return status == null ? null : new DirectoryEntry(status.attributes().fileId(), name, cookie, null, null);
            } catch (IOException e) {
                AccessControl.require(NfsErrors.statusOf(e) != NfsStatus.JUKEBOX, NfsStatus.JUKEBOX);
                return new DirectoryEntry(cookie, name, cookie, null, null); // the number is not known, and must not be 0
            }
        }

        private DirectoryEntry entry(String name, long cookie, FileObject file) {
            Fattr attributes = file.attributes();
            return withFiles ? new DirectoryEntry(attributes.fileId(), name, cookie, attributes, file.node().handle())
                    : new DirectoryEntry(attributes.fileId(), name, cookie, null, null);
        }
    }

    /** A result that takes entries until it is full. */
    private final class DirectoryResult {

        /** The word that ends the list, and the one that says whether it was the whole. */
        private static final int END_BYTES = 2 * Integer.BYTES;

        private final ByteBuf out;
        private final int start;
        private final AttributeSlot slot;
        private final int limit;
        private final long directoryLimit;
        private final boolean plus;
        private int maxEntries;
        private long directoryBytes;
        private int entries;

        private DirectoryResult(NfsCall call, long limit, long directoryLimit, boolean plus) {
            out = call.out();
            slot = call.attributes();
            this.limit = (int) Math.min(limit, maxResultBytes);
            this.directoryLimit = directoryLimit;
            this.plus = plus;
            start = out.writerIndex();
        }

        /** Without entries; the slot is filled. */
        private void begin(int entriesAtMost) {
            maxEntries = entriesAtMost;
            out.writerIndex(start);
            slot.write();
            Xdr.writeHyper(out, tree.cookies().verifier());
        }

        /** Adds an entry, or returns {@code false} if it does not fit, or is one too many. */
        private boolean add(DirectoryEntry entry) {
            if (entries == maxEntries) {
                return false;
            }
            int entryStart = out.writerIndex();
            Xdr.writeBoolean(out, true);
            entry.write(out);
            int bytes = out.writerIndex() - entryStart;
            if (plus) {
                entry.writeFile(out);
            }
            boolean isOneTooMany = entries > 0 && directoryBytes + bytes > directoryLimit;
            if (isOneTooMany || out.writerIndex() - start + END_BYTES > limit) {
                out.writerIndex(entryStart);
                return false;
            }
            directoryBytes += bytes;
            entries++;
            return true;
        }

        private void finish(boolean isWhole) throws NfsException {
            AccessControl.require(isWhole || entries > 0, NfsStatus.TOOSMALL);
            AccessControl.require(out.writerIndex() - start + END_BYTES <= limit, NfsStatus.TOOSMALL);
            Xdr.writeBoolean(out, false);
            Xdr.writeBoolean(out, isWhole);
        }
    }
}
