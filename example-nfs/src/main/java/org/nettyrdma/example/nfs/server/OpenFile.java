package org.nettyrdma.example.nfs.server;

import java.io.Closeable;
import java.nio.channels.FileChannel;

/** An open file, in use until it is closed, which gives it back to {@link OpenFiles}. */
final class OpenFile implements Closeable {

    private final OpenFiles cache;
    private final FileId id;
    private final FileChannel channel;
    /** Guarded by the monitor of the cache, as are the fields below. */
    private int users;
    private boolean evicted;
    private long lastUsedNanos;

    OpenFile(OpenFiles cache, FileId id, FileChannel channel) {
        this.cache = cache;
        this.id = id;
        this.channel = channel;
    }

    FileId id() {
        return id;
    }

    FileChannel channel() {
        return channel;
    }

    @Override
    public void close() {
        cache.release(this);
    }

    void use() {
        users++;
    }

    /** Returns whether the channel is to be closed now. */
    boolean unuse(long nowNanos) {
        users--;
        lastUsedNanos = nowNanos;
        return evicted && users == 0;
    }

    /** Returns whether the channel is to be closed now, and not by its last user. */
    boolean evict() {
        evicted = true;
        return users == 0;
    }

    boolean isIdle(long nowNanos, long idleNanos) {
        return users == 0 && nowNanos - lastUsedNanos >= idleNanos;
    }
}
