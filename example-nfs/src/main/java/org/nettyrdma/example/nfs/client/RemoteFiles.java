package org.nettyrdma.example.nfs.client;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.nettyrdma.example.nfs.protocol.DirectoryEntry;
import org.nettyrdma.example.nfs.protocol.DirectoryOperationArguments;
import org.nettyrdma.example.nfs.protocol.Fattr;
import org.nettyrdma.example.nfs.protocol.FileHandle;
import org.nettyrdma.example.nfs.protocol.FileSystemInfo;
import org.nettyrdma.example.nfs.protocol.FileType;
import org.nettyrdma.example.nfs.protocol.MakeDirectoryArguments;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.nettyrdma.example.nfs.protocol.ReadDirectoryArguments;
import org.nettyrdma.example.nfs.protocol.ReadDirectoryPlusArguments;
import org.nettyrdma.example.nfs.protocol.Sattr;

/**
 * The files of a mounted export, by absolute path on the server. A {@code /} at the end of a path means that it is of a
 * directory: a link there is followed, except by what removes, and anything else is refused (path_resolution(7)). Methods wait
 * for the server and must not be called on an event loop; otherwise this is thread safe. They fail with {@link NfsException},
 * whose message begins with the path.
 */
public final class RemoteFiles {

    private static final int MAX_LINKS_FOLLOWED = 40;
    private static final int MAX_DIRECTORY_BYTES = 1 << 16;
    /** Directories that a walk through a tree has open in each other, with a list of each. */
    private static final int MAX_DEPTH = 512;

    private final NfsClient client;
    private final RemoteFile root;
    private final FileSystemInfo limits;

    private static final FailureListener FIRST_FAILURE = failure -> {
        throw failure;
    };

    private RemoteFiles(NfsClient client, RemoteFile root, FileSystemInfo limits) {
        this.client = client;
        this.root = root;
        this.limits = limits;
    }

    static RemoteFiles open(NfsClient client, String exportPath, FileHandle handle) throws IOException {
        Fattr attributes = Await.result(client.getAttributes(handle));
        FileSystemInfo limits = Await.result(client.fileSystemInfo(handle));
        return new RemoteFiles(client, new RemoteFile(exportPath, handle, attributes), limits);
    }

    /**
     * Returns the mounted directory.
     *
     * @return the root of the export
     */
    public RemoteFile root() {
        return root;
    }

    /**
     * Returns what the server said about its limits when it was mounted.
     *
     * @return the limits
     */
    public FileSystemInfo limits() {
        return limits;
    }

    NfsClient client() {
        return client;
    }

    /**
     * Finds a file. Symbolic links on the way are followed inside the export; an absolute target counts from its root.
     *
     * @param path absolute path on the server, at or below the mounted directory
     * @return the file; if the path ends with a symbolic link, the link itself
     * @throws IOException if there is no such file, a call fails, or links make the way longer than fits into a quarter of Java's
     *         memory
     */
    public RemoteFile find(String path) throws IOException {
        return find(path, false, new ListingBudget());
    }

    /**
     * Finds a file, and follows symbolic links to the end.
     *
     * @param path absolute path on the server, at or below the mounted directory
     * @return the file, which is no symbolic link
     * @throws IOException if there is no such file, a call fails, or links make the way longer than fits into a quarter of Java's
     *         memory
     */
    public RemoteFile findTarget(String path) throws IOException {
        return find(path, true, new ListingBudget());
    }

    /** The symbolic links on the way choose how long it is: within the memory for it. */
    RemoteFile find(String path, boolean followLast, ListingBudget budget) throws IOException {
        Deque<String> names = new ArrayDeque<>(below(path));
        Deque<RemoteFile> way = new ArrayDeque<>(List.of(root));
        boolean ofDirectory = RemotePath.isOfDirectory(path);
        int linksFollowed = 0;
        while (!names.isEmpty()) {
            String name = names.removeFirst();
            if (name.equals("..")) {
                if (way.size() > 1) {
                    way.removeLast();
                }
                continue;
            }
            RemoteFile found = lookup(way.getLast(), name);
            if (found.attributes().type() != FileType.SYMBOLIC_LINK || names.isEmpty() && !followLast && !ofDirectory) {
                budget.take(path, found.path());
                way.addLast(found);
                continue;
            }
            if (++linksFollowed > MAX_LINKS_FOLLOWED) {
                throw new IOException(path + ": more than " + MAX_LINKS_FOLLOWED + " symbolic links on the way");
            }
            String target = readLink(found);
            if (target.startsWith("/")) {
                way.clear();
                way.addLast(root);
            }
            List<String> targetNames = linkNames(target);
            for (int i = targetNames.size() - 1; i >= 0; i--) {
                names.addFirst(targetNames.get(i));
            }
        }
        return ofDirectory ? requireDirectory(path, way.getLast()) : way.getLast();
    }

    private static RemoteFile requireDirectory(String path, RemoteFile file) throws NfsException {
        if (!file.attributes().isDirectory()) {
            throw new NfsException(path, NfsStatus.NOTDIR);
        }
        return file;
    }

    /** Keeps {@code ..}, which in a link counts from where the link's directory really is. */
    private static List<String> linkNames(String target) {
        List<String> names = new ArrayList<>();
        for (String name : target.split("/")) {
            if (!name.isEmpty() && !name.equals(".")) {
                names.add(name);
            }
        }
        return names;
    }

    private String lastName(String path) throws IOException {
        if (below(path).isEmpty()) {
            throw new IOException(path + ": it is the mounted directory itself");
        }
        return RemotePath.name(RemotePath.normalize(path));
    }

    private List<String> below(String path) throws MountException {
        if (!RemotePath.isAtOrBelow(path, root.path())) {
            throw new MountException(path + " is outside of the mounted directory " + root.path());
        }
        return RemotePath.names(path).subList(RemotePath.names(root.path()).size(), RemotePath.names(path).size());
    }

    /**
     * Finds a name in a directory.
     *
     * @param directory the directory
     * @param name a name without {@code /}
     * @return the file; if it is a symbolic link, the link itself
     * @throws IOException if there is no such file or a call fails
     */
    public RemoteFile lookup(RemoteFile directory, String name) throws IOException {
        String path = RemotePath.child(directory.path(), name);
        LookupResult found = call(path, client.lookup(directory.handle(), name));
        return withAttributes(path, found.handle(), found.attributes());
    }

    /** Makes a file of what a call returned, with calls for what it did not return. */
    private RemoteFile withAttributes(String path, FileHandle handle, Fattr attributes) throws IOException {
        return new RemoteFile(path, handle, attributes != null ? attributes : call(path, client.getAttributes(handle)));
    }

    /** The file that CREATE, MKDIR or SYMLINK made, whose reply may lack the handle. */
    RemoteFile created(RemoteFile directory, String name, LookupResult result) throws IOException {
        return result.handle() == null ? lookup(directory, name)
                : withAttributes(RemotePath.child(directory.path(), name), result.handle(), result.attributes());
    }

    /**
     * Reads a symbolic link.
     *
     * @param link the link
     * @return its target
     * @throws IOException if the call fails
     */
    public String readLink(RemoteFile link) throws IOException {
        return call(link.path(), client.readLink(link.handle()));
    }

    /**
     * Lists a directory, with as many calls as that takes.
     *
     * @param directory the directory
     * @return its files in order of their names, without {@code .} and {@code ..}
     * @throws IOException if a call fails, the server returns a name that cannot be one, or what it returns has no end or does
     *         not fit into a quarter of Java's memory
     */
    public List<RemoteFile> list(RemoteFile directory) throws IOException {
        return list(directory, FIRST_FAILURE);
    }

    /**
     * Lists a directory, also where the server tells nothing of some of its files, or calls them what cannot be a name.
     *
     * @param directory the directory
     * @param failures is told of each of those
     * @return the others, as by {@link #list(RemoteFile)}
     * @throws IOException as by {@link #list(RemoteFile)}
     */
    public List<RemoteFile> list(RemoteFile directory, FailureListener failures) throws IOException {
        return list(directory, new ListingBudget(), failures);
    }

    /** The same within the memory that is left for several lists. */
    List<RemoteFile> list(RemoteFile directory, ListingBudget budget, FailureListener failures) throws IOException {
        List<RemoteFile> files = new ArrayList<>();
        new RemoteListing(directory, this::pageOfFiles, budget, failures).forEach(entry -> {
            RemoteFile file = fileOrNull(directory, entry);
            if (file != null) {
                files.add(file);
            }
        });
        files.sort(Comparator.comparing(RemoteFile::name));
        return files;
    }

    /**
     * Lists the names in a directory, which takes no right to look at its files.
     *
     * @param directory the directory
     * @param failures is told of each that cannot be a name
     * @return the others in their order, without {@code .} and {@code ..}
     * @throws IOException as by {@link #list(RemoteFile)}
     */
    public List<String> names(RemoteFile directory, FailureListener failures) throws IOException {
        List<String> names = new ArrayList<>();
        new RemoteListing(directory, this::pageOfNames, new ListingBudget(), failures).forEach(entry -> names.add(entry.name()));
        names.sort(Comparator.naturalOrder());
        return names;
    }

    /** A server need not have READDIRPLUS (RFC 1813, section 3.3.17). */
    private DirectoryPage pageOfFiles(RemoteFile directory, long cookie, long cookieVerifier) throws IOException {
        int bytes = pageBytes();
        try {
            return call(directory.path(), client.readDirectoryPlus(
                    new ReadDirectoryPlusArguments(directory.handle(), cookie, cookieVerifier, bytes, bytes)));
        } catch (NfsException e) {
            if (e.status() != NfsStatus.NOTSUPP) {
                throw e;
            }
        }
        return pageOfNames(directory, cookie, cookieVerifier);
    }

    private DirectoryPage pageOfNames(RemoteFile directory, long cookie, long cookieVerifier) throws IOException {
        return call(directory.path(), client.readDirectory(
                new ReadDirectoryArguments(directory.handle(), cookie, cookieVerifier, pageBytes())));
    }

    private int pageBytes() {
        return (int) Math.max(4096, Math.min(limits.preferredDirectoryBytes(), MAX_DIRECTORY_BYTES));
    }

    /** Ends a walk through directories that lie in each other without end. */
    static void checkDepth(RemoteFile directory, int depth) throws IOException {
        if (depth > MAX_DEPTH) {
            throw new IOException(directory.path() + ": more than " + MAX_DEPTH + " directories lie in each other");
        }
    }

    /** Returns {@code null} for what is gone since it was listed: the server of Linux lists such a name without its handle. */
    private RemoteFile fileOrNull(RemoteFile directory, DirectoryEntry entry) throws IOException {
        String name = entry.name();
        boolean hasHandle = entry.handle() != null;
        try {
            return hasHandle ? withAttributes(RemotePath.child(directory.path(), name), entry.handle(), entry.attributes())
                    : lookup(directory, name);
        } catch (NfsException e) {
            if (e.status() == (hasHandle ? NfsStatus.STALE : NfsStatus.NOENT)) {
                return null;
            }
            throw e;
        }
    }

    /**
     * Creates a directory.
     *
     * @param path absolute path on the server
     * @param attributes its attributes
     * @return the directory
     * @throws IOException if it exists, its parent does not, or a call fails; the message says so where it has come to be only
     *         now: who was first cannot be known if the server was lost meanwhile
     */
    public RemoteFile makeDirectory(String path, Sattr attributes) throws IOException {
        String name = lastName(path);
        RemoteFile parent = findTarget(RemotePath.parent(path));
        boolean missing = isMissing(parent, name);
        try {
            return makeDirectory(parent, name, attributes);
        } catch (NfsException e) {
            throw missing && e.status() == NfsStatus.EXIST ? NfsException.madeMeanwhile(e) : e;
        }
    }

    private boolean isMissing(RemoteFile directory, String name) throws IOException {
        try {
            lookup(directory, name);
            return false;
        } catch (NfsException e) {
            if (e.status() != NfsStatus.NOENT) {
                throw e;
            }
            return true;
        }
    }

    RemoteFile makeDirectory(RemoteFile parent, String name, Sattr attributes) throws IOException {
        LookupResult made = call(RemotePath.child(parent.path(), name), client.makeDirectory(
                new MakeDirectoryArguments(new DirectoryOperationArguments(parent.handle(), name), attributes)));
        return created(parent, name, made);
    }

    /**
     * Creates a directory and its missing parents; one that exists already is left as it is.
     *
     * @param path absolute path on the server
     * @param attributes attributes of those that are created
     * @return the directory
     * @throws IOException if something else than a directory is in the way, or a call fails
     */
    public RemoteFile makeDirectories(String path, Sattr attributes) throws IOException {
        RemoteFile directory = root;
        for (String name : below(path)) {
            try {
                directory = makeDirectory(directory, name, attributes);
            } catch (NfsException e) {
                directory = existing(RemotePath.child(directory.path(), name), e);
            }
        }
        return requireDirectory(path, directory);
    }

    /** What is there already: some servers look whether they would make a directory before they look for its name. */
    private RemoteFile existing(String path, NfsException refusal) throws IOException {
        switch (refusal.status()) {
            case EXIST -> {
                return findTarget(path);
            }
            case ROFS, ACCES, PERM -> {
                try {
                    return findTarget(path);
                } catch (NfsException e) {
                    throw refusal;
                }
            }
            default -> throw refusal;
        }
    }

    /**
     * Removes a file or a symbolic link. If somebody else removes it at the same time, both have done it.
     *
     * @param path absolute path on the server
     * @throws IOException if it is a directory or does not exist, or a call fails
     */
    public void remove(String path) throws IOException {
        String name = lastName(path);
        RemoteFile parent = findTarget(RemotePath.parent(path));
        RemoteFile file = lookupToRemove(parent, name, path);
        removed(file, client.remove(parent.handle(), file.name()));
    }

    /**
     * Removes a file, or a directory with all that is in it. Symbolic links are removed, not followed. What somebody else removes
     * at the same time is no error.
     *
     * @param path absolute path on the server, below the mounted directory
     * @throws IOException if it does not exist, or a call fails
     */
    public void removeTree(String path) throws IOException {
        removeTree(path, FIRST_FAILURE);
    }

    /**
     * Removes as much of a tree as can be removed.
     *
     * @param path absolute path on the server, below the mounted directory
     * @param failures is told of what cannot; nobody is told of the directories that it is in, which stay, too
     * @throws IOException if it does not exist, or a call fails for all
     */
    public void removeTree(String path, FailureListener failures) throws IOException {
        String name = lastName(path);
        RemoteFile parent = findTarget(RemotePath.parent(path));
        removeTree(parent, lookupToRemove(parent, name, path), new ListingBudget(), failures, 1);
    }

    private void removeTree(RemoteFile parent, RemoteFile file, ListingBudget budget, FailureListener failures, int depth)
            throws IOException {
        if (!file.attributes().isDirectory()) {
            failures.attempt(() -> removed(file, client.remove(parent.handle(), file.name())));
            return;
        }
        checkDepth(file, depth);
        AtomicBoolean isEmpty = new AtomicBoolean(true);
        FailureListener within = failure -> {
            isEmpty.set(false);
            failures.failed(failure);
        };
        long held = budget.usedBytes();
        within.attempt(() -> {
            for (RemoteFile child : list(file, budget, within)) {
                removeTree(file, child, budget, within, depth + 1);
            }
        });
        budget.giveBackTo(held);
        if (isEmpty.get()) {
            failures.attempt(() -> removed(file, client.removeDirectory(parent.handle(), file.name())));
        }
    }

    private RemoteFile lookupToRemove(RemoteFile parent, String name, String path) throws IOException {
        RemoteFile file = lookup(parent, name);
        return RemotePath.isOfDirectory(path) ? requireDirectory(path, file) : file;
    }

    /** If the server is lost after it has removed what was there, the call is made again, and does not find it. */
    private static void removed(RemoteFile file, CompletableFuture<Void> removal) throws IOException {
        try {
            call(file.path(), removal);
        } catch (NfsException e) {
            if (e.status() != NfsStatus.NOENT) {
                throw e;
            }
        }
    }

    /** Waits for a call, and puts {@code path} before the message of an {@link NfsException}. */
    static <T> T call(String path, CompletableFuture<T> call) throws IOException {
        try {
            return Await.result(call);
        } catch (NfsException e) {
            throw new NfsException(path, e);
        }
    }
}
