package org.nettyrdma.example.nfs.server;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.nettyrdma.example.nfs.LocalNames;
import org.nettyrdma.example.nfs.protocol.DirectoryOperationArguments;
import org.nettyrdma.example.nfs.protocol.Fattr;
import org.nettyrdma.example.nfs.protocol.FileHandle;
import org.nettyrdma.example.nfs.protocol.NfsStatus;

/**
 * Finds the file of a handle, and never one outside of the export. For each file that a client has a handle of it remembers
 * the names under which it was seen, and follows those that the server itself changes. A remembered name is believed only
 * after a look: what is there must be the file of the handle, and its directory inside of the export ({@link Places}). What
 * is not at its remembered names, or was handed out before a restart, is searched for.
 *
 * <p>The name lock keeps other calls from changing a name between that look and its use. Another process on this machine that
 * may write to the export can still win that race for names that it owns; open files and directory listings are therefore
 * looked at once more after they were opened.
 */
final class FileTree {

    /**
     * Linux takes no paths of more. A file system in memory takes any, and looks at each name on the way. Deeper ones come also
     * from names that another process moved into a circle while we did not look.
     */
    private static final int MAX_DEPTH = 2048;

    private final Path rootPath;
    private final AttributeStore store;
    private final FileHandles handles;
    private final Places places;
    private final FileSearch search;
    private final KnownFiles known;
    private final ReentrantReadWriteLock names = new ReentrantReadWriteLock();

    /**
     * Starts with the root of an export.
     *
     * @param rootPath      a real path
     * @param searchLimit   most directory entries that a search looks at
     * @param maxKnownBytes how much memory the files may take that clients have handles of
     */
    FileTree(Path rootPath, AttributeStore store, FileHandles handles, int searchLimit, long maxKnownBytes) throws IOException {
        this.rootPath = rootPath;
        this.store = store;
        this.handles = handles;
        places = new Places(rootPath, store);
        search = new FileSearch(this, searchLimit);
        FileStatus status = store.read(rootPath);
        if (!status.attributes().isDirectory()) {
            throw new IOException(rootPath + " is not a directory");
        }
        known = new KnownFiles(maxKnownBytes, status.id(), this::newNode);
    }

    Lock sharedNames() {
        return names.readLock();
    }

    Lock exclusiveNames() {
        return names.writeLock();
    }

    boolean hasNamesAlone() {
        return names.isWriteLockedByCurrentThread();
    }

    AttributeStore store() {
        return store;
    }

    FileObject root() throws IOException {
        FileObject root = rootOrNull();
        AccessControl.require(root != null, NfsStatus.NOENT);
        return root;
    }

    /** The directory that is at the path of the export now, which may be another one than when the server was started. */
    FileObject rootOrNull() throws IOException {
        FileStatus status = readOrNull(rootPath);
        FileNode root = known.root();
        if (status != null && !status.id().equals(root.id())) {
            boolean isRoot = status.attributes().isDirectory() && places.isReal(rootPath);
            root = isRoot ? known.replaceRoot(status.id(), this::newNode) : null;
        }
        return status == null || root == null ? null : object(root, rootPath, status);
    }

    CookieHash cookies() {
        return handles.cookies();
    }

    KnownFiles known() {
        return known;
    }

    /** Does something with the name lock shared. */
    <T> T withNames(NfsCall.Step<T> step) throws IOException {
        names.readLock().lock();
        try {
            return step.run();
        } finally {
            names.readLock().unlock();
        }
    }

    void withNames(NfsCall.Action action) throws IOException {
        withNames(() -> {
            action.run();
            return null;
        });
    }

    /** Which file a handle is of, which no forged one tells. Needs no lock. */
    FileId idOf(FileHandle handle) throws NfsException {
        FileId id = FileHandles.claimedId(handle);
        FileNode node = known.get(id);
        handles.requireEqual(handle, node == null ? handles.handleOf(id) : node.handle());
        return id;
    }

    /**
     * Finds the file of a handle.
     *
     * @throws UnknownFileException if that takes a {@link #search}, for which the caller must have no lock
     */
    FileObject locate(FileHandle handle) throws IOException {
        FileId id = idOf(handle);
        FileNode node = known.get(id);
        FileObject found = node == null ? null : atKnownName(node);
        if (found == null) {
            AccessControl.require(!search.isGoneForGood(id), NfsStatus.STALE);
            throw new UnknownFileException(id);
        }
        found.node().use();
        return found;
    }

    /** Looks through the export, so that {@link #locate} finds the file, or fails if that is not there, or has to wait. */
    void search(FileId id) throws IOException {
        search.find(id);
    }

    /** Finds what a client looks up, also under the names that every directory has. */
    FileObject lookup(FileObject directory, String name) throws IOException {
        return switch (name) {
            case FileNames.SELF -> directory;
            case FileNames.PARENT -> parent(directory);
            default -> child(directory, name);
        };
    }

    FileObject child(FileObject directory, String name) throws IOException {
        FileObject child = childOrNull(directory, name);
        if (child == null) {
            throw new NfsException(NfsStatus.NOENT);
        }
        return child;
    }

    FileObject childOrNull(FileObject directory, String name) throws IOException {
        Path path = LocalNames.child(directory.path(), FileNames.requireComponent(name));
        AccessControl.require(path.getNameCount() - rootPath.getNameCount() <= MAX_DEPTH, NfsStatus.NAMETOOLONG);
        FileStatus status = readOrNull(path);
        if (status == null) {
            return null;
        }
        FileObject child = seen(directory.node(), name, path, status);
        child.node().use();
        return child;
    }

    /** The file of a name that a caller may take away, or {@code null} if there is none. The caller has the name lock. */
    FileObject removable(Credentials caller, DirectoryOperationArguments name) throws IOException {
        FileObject directory = locate(name.directory()).requireDirectory();
        AccessControl.requireSearch(caller, directory.attributes());
        FileObject file = FileNames.isDot(name.name()) ? null : childOrNull(directory, name.name());
        if (file != null) {
            AccessControl.requireRemove(caller, directory.attributes(), file.attributes());
        }
        return file;
    }

    FileObject parent(FileObject directory) throws IOException {
        if (directory.node() == known.root()) {
            return directory; // nothing above the root of the export is visible
        }
        for (FileNode.Name name : directory.node().names()) {
            FileObject parent = atKnownName(name.directory());
            if (parent != null) {
                return parent;
            }
        }
        throw new NfsException(NfsStatus.STALE);
    }

    /**
     * Remembers a name under which a file was found.
     *
     * @throws NfsException if that is a directory above, mounted there once more: all below it would have no path from the root
     */
    FileObject seen(FileNode directory, String name, Path path, FileStatus status) throws NfsException {
        AccessControl.require(!status.attributes().isDirectory() || !isAbove(status.id(), directory, name), NfsStatus.ACCES);
        FileNode node = known.seen(status.id(), this::newNode,
                seen -> seen.nameSeen(new FileNode.Name(directory, name), status.attributes().isDirectory()));
        return object(node, path, status);
    }

    private boolean isAbove(FileId id, FileNode directory, String name) {
        FileNode seen = known.get(id);
        if (seen == null || seen.names().contains(new FileNode.Name(directory, name))) {
            return false; // what is new is above nothing, and the other was asked before
        }
        FileNode node = directory;
        for (int depth = 0; !node.id().equals(id) && node != known.root() && depth < MAX_DEPTH; depth++) {
            Iterator<FileNode.Name> names = node.names().iterator();
            if (!names.hasNext()) {
                return false;
            }
            node = names.next().directory();
        }
        return node.id().equals(id);
    }

    private FileNode newNode(FileId id) {
        search.there(id);
        return new FileNode(id, handles.handleOf(id));
    }

    /** The attributes of a file now, or {@code null} if it cannot be found without a search. Takes the name lock. */
    Fattr attributesNow(FileNode node) {
        try {
            FileObject now = withNames(() -> atKnownName(node));
            return now == null ? null : now.attributes();
        } catch (IOException e) {
            return null; // attributes in results are optional
        }
    }

    /** Whether the file is still where it was found, for another look after opening it. */
    boolean isStillThere(FileObject file) throws IOException {
        FileStatus status = readOrNull(file.path());
        return status != null && status.id().equals(file.node().id())
                && (file.node() == known.root() || places.isInside(file.path().getParent()));
    }

    FileObject atKnownName(FileId id) throws IOException {
        FileNode node = known.get(id);
        return node == null ? null : atKnownName(node);
    }

    FileObject atKnownName(FileNode node) throws IOException {
        if (node == known.root()) {
            FileObject root = rootOrNull();
            if (root == null || root.node() == node) {
                return root;
            }
        }
        for (FileNode.Name name : node.names()) {
            Path directory = pathOf(name.directory());
            if (directory != null && places.isInside(directory)) {
                Path path = LocalNames.child(directory, name.name());
                FileStatus status = readOrNull(path);
                if (status != null && status.id().equals(node.id())) {
                    return object(node, path, status);
                }
            }
            known.nameGone(node, name);
        }
        return null;
    }

    private FileObject object(FileNode node, Path path, FileStatus status) {
        Fattr attributes = status.attributes();
        return new FileObject(node, path, store.keepsChangeTime() ? attributes
                : attributes.withChangeTime(node.changeTimeNotBefore(attributes.changeTime())));
    }

    FileStatus readOrNull(Path path) throws IOException {
        try {
            return store.read(path);
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    /** Builds the path from the names alone; {@code null} if a directory on the way has none any more. */
    private Path pathOf(FileNode directory) {
        Deque<String> components = new ArrayDeque<>();
        for (FileNode node = directory; node != known.root();) {
            Iterator<FileNode.Name> names = node.names().iterator();
            if (!names.hasNext() || components.size() == MAX_DEPTH) {
                return null;
            }
            node.use();
            FileNode.Name name = names.next();
            components.addFirst(name.name());
            node = name.directory();
        }
        return components.isEmpty() ? rootPath : LocalNames.child(rootPath, String.join("/", components));
    }

    /** Notes that the server is about to change, or just changed, a file. */
    void changed(FileObject file) {
        if (!store.keepsChangeTime()) {
            file.node().changed(file.attributes().changeTime());
        }
    }

    /** Notes that the server took a name away. */
    void removed(FileObject directory, String name, FileObject file) {
        known.nameGone(file.node(), new FileNode.Name(directory.node(), name));
        changed(directory);
        changed(file);
        if (file.attributes().isDirectory() || file.attributes().linkCount() <= 1) {
            FileId id = file.node().id();
            known.forget(id, node -> {
                search.gone(id, true);
                return true;
            });
        }
    }

    /**
     * Notes that a search has not found a file.
     *
     * @return {@code false} if somebody else has found it meanwhile
     */
    boolean notFound(FileId id) {
        return known.forget(id, node -> {
            if (node != null && !node.names().isEmpty()) {
                return false;
            }
            search.gone(id, false);
            return true;
        });
    }

    /** Notes that the server renamed a file. */
    void renamed(FileObject fromDirectory, String fromName, FileObject file, FileObject toDirectory, String toName) {
        known.nameGone(file.node(), new FileNode.Name(fromDirectory.node(), fromName));
        boolean isDirectory = file.attributes().isDirectory();
        known.seen(file.node().id(), id -> file.node(),
                node -> node.nameSeen(new FileNode.Name(toDirectory.node(), toName), isDirectory));
        search.moved(file.node(), isDirectory);
        changed(fromDirectory);
        changed(toDirectory);
        changed(file);
    }

    /** Remembers a file that may have been forgotten. */
    void keep(FileNode file) {
        known.seen(file.id(), id -> file, FileNode::use);
    }

    /** Whether {@code directory} is {@code ancestor} or below it. */
    boolean isBelow(FileObject directory, FileObject ancestor) {
        return directory.path().startsWith(ancestor.path());
    }
}
