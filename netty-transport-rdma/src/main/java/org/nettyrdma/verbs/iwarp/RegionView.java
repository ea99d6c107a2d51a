package org.nettyrdma.verbs.iwarp;

import java.nio.ByteBuffer;
import org.nettyrdma.verbs.MemoryRegion;

/**
 * A window onto registered memory with a position and a limit of its own. It keeps the last region's view, and since the
 * messages of a connection mostly lie in few regions, moving it rarely allocates.
 */
final class RegionView {

    private MemoryRegion region;
    private ByteBuffer view;

    /** Moves the window. The result is valid until the next call. */
    ByteBuffer select(MemoryRegion newRegion, int offset, int length) {
        if (region != newRegion) {
            view = newRegion.memory().duplicate();
            region = newRegion;
        }
        return view.limit(offset + length).position(offset);
    }
}
