package org.nettyrdma.verbs.disni;

import io.netty.util.collection.IntObjectHashMap;
import java.io.IOException;

/**
 * The memory that one queue pair has opened to its peer, by steering tag.
 */
final class ExposedPieces {

    /**
     * One opening.
     *
     * @param remoteOffset address of its first byte, by which the peer names it
     * @param registration what was registered for it, or {@code null}
     * @param window       the window that was bound for it, or 0
     */
    record Piece(long remoteOffset, Registration registration, long window) {
    }

    private final DisniContext context;
    private final IntObjectHashMap<Piece> pieces = new IntObjectHashMap<>();
    private final IntObjectHashMap<Piece> withdrawing = new IntObjectHashMap<>(); // windows whose invalidation is not complete

    ExposedPieces(DisniContext context) {
        this.context = context;
    }

    /** Registers a piece of memory with remote rights, for this exposure alone. */
    int register(DisniMemoryRegion region, int offset, int length, int access) throws IOException {
        Registration registration = context.device().register(region.memory(), offset, length, access);
        pieces.put(registration.remoteKey(), new Piece(registration.address(), registration, 0));
        return registration.remoteKey();
    }

    /** Notes a piece that a window was bound to. */
    void bound(int tag, long remoteOffset, long window) {
        pieces.put(tag, new Piece(remoteOffset, null, window));
    }

    /** Opens nothing new: the whole region is open for good. The tag names the piece that was asked for last. */
    int persistent(DisniMemoryRegion region, int offset) throws IOException {
        Registration registration = region.registration(context.device());
        pieces.put(registration.remoteKey(), new Piece(registration.address() + offset, null, 0));
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
        withdrawing.put(tag, pieces.remove(tag));
    }

    /** The invalidation of a window is complete; without success the window stays here until the end. */
    void withdrawn(int tag, boolean success) {
        if (success) {
            context.windows().give(withdrawing.remove(tag).window());
        }
    }

    /** Frees all windows. Bound ones belong to the queue pair, which can only be destroyed without them. */
    void freeWindows() {
        freeWindows(pieces);
        freeWindows(withdrawing);
        withdrawing.clear();
    }

    private void freeWindows(IntObjectHashMap<Piece> of) {
        for (Piece piece : of.values()) {
            if (piece.window() != 0) {
                context.windows().free(piece.window());
            }
        }
    }

    /** Forgets everything, and ends the registrations. The queue pair must have been destroyed. */
    void close() {
        for (Piece piece : pieces.values()) {
            if (piece.registration() != null) {
                context.device().deregister(piece.registration());
            }
        }
        pieces.clear();
    }
}
