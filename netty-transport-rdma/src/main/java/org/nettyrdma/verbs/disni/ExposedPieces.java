package org.nettyrdma.verbs.disni;

import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
import org.nettyrdma.verbs.MemoryRegion;
import org.nettyrdma.verbs.support.IntTable;

/** The memory that one queue pair has opened to its peer, by steering tag. */
final class ExposedPieces {

    /**
     * One opening.
     *
     * @param tag          by which it is found
     * @param remoteOffset address of its first byte, by which the peer names it
     * @param registration what was registered for it, or {@code null}
     * @param window       the window that was bound for it, or 0
     */
    record Piece(int tag, long remoteOffset, Registration registration, long window) {
    }

    private final Registrar registrar;
    private final MemoryWindows windows;
    private final IntTable<Piece> pieces = new IntTable<>();
    private final IntTable<Piece> withdrawing = new IntTable<>(); // windows whose invalidation is not complete
    private final Set<Integer> stuck = new HashSet<>(); // tags whose window was not freed, and that the device may still honour

    ExposedPieces(Registrar registrar, MemoryWindows windows) {
        this.registrar = registrar;
        this.windows = windows;
    }

    /** Registers a piece of memory with remote rights, for this exposure alone. */
    int register(MemoryRegion region, int offset, int length, int access) throws IOException {
        Registration registration = registrar.register(region.memory(), offset, length, access);
        try {
            add(registration.remoteKey(), registration.address(), registration, 0);
        } catch (RuntimeException | Error e) { // no memory, for instance
            registrar.deregister(registration);
            throw e;
        }
        return registration.remoteKey();
    }

    /** Notes a piece that a window was bound to; closes it if there is no memory for that. */
    void bound(int tag, long remoteOffset, long window) {
        try {
            add(tag, remoteOffset, null, window);
        } catch (RuntimeException | Error e) {
            windows.free(window);
            throw e;
        }
    }

    private void add(int tag, long remoteOffset, Registration registration, long window) {
        pieces.put(tag, new Piece(tag, remoteOffset, registration, window));
    }

    /** Opens nothing new: the whole region is open for good. The tag names the piece that was asked for last. */
    int persistent(DisniMemoryRegion region, int offset, Device device) throws IOException {
        Registration registration = region.registration(device);
        add(registration.remoteKey(), registration.address() + offset, null, 0);
        return registration.remoteKey();
    }

    Piece find(int tag) {
        return pieces.get(tag);
    }

    /** The tag is not valid any more. */
    Piece remove(int tag) {
        return pieces.remove(tag);
    }

    /** The invalidation of a window has been posted. */
    void startWithdrawing(int tag) {
        withdrawing.put(tag, pieces.get(tag));
        pieces.remove(tag); // not before there was memory for the other table
    }

    /**
     * The invalidation of a window is complete; without success the window stays here until the end. A completion may be
     * delivered after that, when it had to wait for an RDMA Read before it: then the window is free already.
     */
    void withdrawn(int tag, boolean success) {
        Piece piece = success ? withdrawing.remove(tag) : null;
        if (piece != null) {
            windows.give(piece.window());
        }
    }

    /** Frees all windows. Bound ones belong to the queue pair, which as a rule can only be destroyed without them. */
    void freeWindows() {
        freeWindows(pieces);
        freeWindows(withdrawing);
    }

    private void freeWindows(IntTable<Piece> of) {
        for (Piece piece : of.values()) {
            if (piece.window() != 0) {
                of.remove(piece.tag()); // so that none is given back or freed once more
                if (!windows.free(piece.window())) {
                    stuck.add(piece.tag());
                }
            }
        }
    }

    /**
     * Ends all access, by the end of the registrations and of the queue pair.
     *
     * @param destroyed whether the queue pair is destroyed, or its device removed: that ends the access by windows, too
     */
    void close(boolean destroyed) {
        for (Piece piece : pieces.values()) {
            if (piece.registration() == null || registrar.deregister(piece.registration())) {
                pieces.remove(piece.tag());
            }
        }
        if (destroyed) {
            stuck.clear();
        }
    }

    /** Whether the peer may still reach what was exposed under a tag, also after {@link #close}. */
    boolean isOpen(int tag) {
        return pieces.get(tag) != null || stuck.contains(tag);
    }
}
