package org.nettyrdma.example.nfs.client;

import java.io.IOException;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.nettyrdma.example.nfs.protocol.Fattr;

/**
 * A directory of this machine that a copy fills. It gets its mode and time of change when all in it is there, because creating
 * a name changes the time and a mode may forbid it, and is closed then. Any thread.
 */
final class CopiedDirectory {

    private final LocalDirectory local;
    private final Fattr attributes;
    private final Set<LocalDirectory> opened;
    /** The walk, and the files that are being copied into it. */
    private final AtomicInteger users = new AtomicInteger(1);

    /**
     * @param attributes {@code null} for a directory that stays as it is
     * @param opened has the directory while it is open
     */
    CopiedDirectory(LocalDirectory local, Fattr attributes, Set<LocalDirectory> opened) {
        this.local = local;
        this.attributes = attributes;
        this.opened = opened;
        opened.add(local);
    }

    LocalDirectory local() {
        return local;
    }

    void retain() {
        users.incrementAndGet();
    }

    /** Where the copy ends with a failure nothing is released: that closes all. */
    void release() throws IOException {
        if (users.decrementAndGet() == 0) {
            opened.remove(local);
            try (local) {
                if (attributes != null) {
                    local.setAttributes(attributes);
                }
            }
        }
    }
}
