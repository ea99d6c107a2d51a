package org.nettyrdma.example.nfs.server;

import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * The files that clients have handles of, as many as a number of bytes holds. Beyond that those go that nobody has used since the
 * hand of a clock passed them last; the files of their handles are searched for when they come again. Thread safe.
 */
final class KnownFiles {

    private final long maxBytes;
    private final AtomicLong bytes = new AtomicLong();
    private final Map<FileId, FileNode> nodes = new ConcurrentHashMap<>();
    /** Stays whatever else goes. */
    private volatile FileNode root;
    /** The hand of the clock; guarded by this. */
    private Iterator<FileNode> hand;

    /**
     * @param maxBytes how much memory the files may take, more than 0
     * @param rootId   the file that every other one is below
     * @param newNode  makes the file of an id
     */
    KnownFiles(long maxBytes, FileId rootId, Function<FileId, FileNode> newNode) {
        this.maxBytes = maxBytes;
        root = newNode.apply(rootId);
        nodes.put(rootId, root);
        hand = nodes.values().iterator();
    }

    FileNode root() {
        return root;
    }

    /** Makes a file the root in place of the one that is. */
    FileNode replaceRoot(FileId id, Function<FileId, FileNode> newNode) {
        return seen(id, newNode, node -> root = node);
    }

    FileNode get(FileId id) {
        return nodes.get(id);
    }

    int size() {
        return nodes.size();
    }

    long bytes() {
        return bytes.get();
    }

    /**
     * Finds a file or takes a new one up.
     *
     * @param newNode makes a new one
     * @param change  what is to happen to it before it can be forgotten
     */
    FileNode seen(FileId id, Function<FileId, FileNode> newNode, Consumer<FileNode> change) {
        FileNode node = nodes.compute(id, (key, known) -> {
            FileNode seen = known == null ? newNode.apply(key) : known;
            change(seen, change);
            return seen;
        });
        if (bytes.get() > maxBytes) {
            forgetUnused();
        }
        return node;
    }

    /** Changes a file that nobody else can change, and counts what that takes. */
    private void change(FileNode node, Consumer<FileNode> change) {
        change.accept(node);
        bytes.addAndGet(node.count());
    }

    /** Takes a name away from a file; one that is forgotten counts no more. */
    void nameGone(FileNode node, FileNode.Name name) {
        nodes.compute(node.id(), (key, known) -> {
            if (known == node) {
                change(node, changed -> changed.nameGone(name));
            } else {
                node.nameGone(name);
            }
            return known;
        });
    }

    /**
     * Forgets a file.
     *
     * @param condition of which it has to be true, and what else happens while nobody can find the file
     * @return whether it is forgotten, or was not known
     */
    boolean forget(FileId id, Predicate<FileNode> condition) {
        return nodes.compute(id, (key, known) -> {
            if (known == root || !condition.test(known)) {
                return known;
            }
            if (known != null) {
                bytes.addAndGet(-known.uncount());
            }
            return null;
        }) == null;
    }

    private synchronized void forgetUnused() {
        // Twice around: the first time the hand only takes away what says that a file was used.
        for (int steps = 2 * nodes.size(); steps > 0 && bytes.get() > maxBytes; steps--) {
            if (!hand.hasNext()) {
                hand = nodes.values().iterator();
            }
            FileNode node = hand.next();
            if (!node.wasUsed()) {
                forget(node.id(), known -> known == node);
            }
        }
    }
}
