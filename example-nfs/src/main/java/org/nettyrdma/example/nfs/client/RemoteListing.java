package org.nettyrdma.example.nfs.client;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.util.HashSet;
import java.util.Set;
import org.nettyrdma.example.nfs.protocol.DirectoryEntry;
import org.nettyrdma.example.nfs.protocol.NfsStatus;

/**
 * One listing of a directory, with as many calls as that takes, which has each name once. Some servers list one again that has
 * been replaced meanwhile, and forget where a list goes on when its directory changes.
 */
final class RemoteListing {

    /** How often a directory is listed from its beginning because it has changed meanwhile. */
    private static final int MAX_BEGINNINGS = 4;

    /** READDIR or READDIRPLUS. */
    @FunctionalInterface
    interface Pages {

        DirectoryPage read(RemoteFile directory, long cookie, long cookieVerifier) throws IOException;
    }

    /** What is done with each entry of a directory. */
    @FunctionalInterface
    interface EntryAction {

        void run(DirectoryEntry entry) throws IOException;
    }

    private final RemoteFile directory;
    private final Pages pages;
    private final ListingBudget budget;
    private final FailureListener failures;
    private final Set<String> names = new HashSet<>();
    private final Set<Long> cookies = new HashSet<>();
    private long cookie;
    private long cookieVerifier;
    private int beginnings = 1;

    RemoteListing(RemoteFile directory, Pages pages, ListingBudget budget, FailureListener failures) {
        this.directory = directory;
        this.pages = pages;
        this.budget = budget;
        this.failures = failures;
    }

    void forEach(EntryAction action) throws IOException {
        DirectoryPage page;
        do {
            page = nextPage();
            for (DirectoryEntry entry : page.entries()) {
                budget.take(directory.path(), entry.name());
                if (names.add(entry.name()) && !entry.name().equals(".") && !entry.name().equals("..")) {
                    failures.attempt(() -> {
                        requireName(entry.name());
                        action.run(entry);
                    });
                }
                cookie = entry.cookie();
            }
            cookieVerifier = page.cookieVerifier();
            requireProgress(page);
        } while (!page.endOfDirectory());
    }

    private DirectoryPage nextPage() throws IOException {
        while (true) {
            try {
                return pages.read(directory, cookie, cookieVerifier);
            } catch (NfsException e) {
                if (e.status() != NfsStatus.BAD_COOKIE || cookie == 0 || beginnings++ == MAX_BEGINNINGS) {
                    throw e;
                }
                cookie = 0;
                cookieVerifier = 0;
                cookies.clear();
            }
        }
    }

    /** A name becomes part of a path on this machine; the server must not choose where that leads. */
    private void requireName(String name) throws IOException {
        if (name.isEmpty() || name.indexOf('/') >= 0 || name.indexOf('\0') >= 0) {
            throw new FileSystemException(directory.path(), null, "the server returns '" + name + "', which cannot be a name");
        }
    }

    private void requireProgress(DirectoryPage page) throws IOException {
        if (page.endOfDirectory()) {
            return;
        }
        if (page.entries().isEmpty()) {
            throw new IOException(directory.path() + ": the server returns no names and says that there are more");
        }
        if (!cookies.add(cookie)) {
            throw new IOException(directory.path() + ": the server repeats the position " + Long.toUnsignedString(cookie)
                    + " of its list, which would never end");
        }
    }
}
