package org.nettyrdma.example.nfs.server;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** A lock for each file, there for as long as somebody has it or waits for it. Thread safe. */
final class FileLocks {

    /** A lock of a file that the current thread has, and gives back once. */
    interface Held {
        void release();
    }

    private static final class FileLock {
        private final ReadWriteLock lock = new ReentrantReadWriteLock();
        /** Changes only while the map computes the value of its key. */
        private int users;
    }

    private final ConcurrentHashMap<FileId, FileLock> locks = new ConcurrentHashMap<>();

    /** Waits until nobody has the file's lock alone. */
    Held shared(FileId id) {
        return lock(id, use(id).readLock());
    }

    /** Waits until nobody has the file's lock. */
    Held exclusive(FileId id) {
        return lock(id, use(id).writeLock());
    }

    /** Waits so long until nobody has the file's lock, and returns {@code null} if somebody still has it. */
    Held exclusiveWithin(FileId id, long millis) {
        Lock lock = use(id).writeLock();
        boolean isHeld = false;
        try {
            isHeld = lock.tryLock(millis, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (!isHeld) {
            unuse(id);
        }
        return isHeld ? held(id, lock) : null;
    }

    int size() {
        return locks.size();
    }

    private ReadWriteLock use(FileId id) {
        return locks.compute(id, (key, known) -> {
            FileLock used = known == null ? new FileLock() : known;
            used.users++;
            return used;
        }).lock;
    }

    private Held lock(FileId id, Lock lock) {
        lock.lock();
        return held(id, lock);
    }

    private Held held(FileId id, Lock lock) {
        return () -> {
            lock.unlock();
            unuse(id);
        };
    }

    private void unuse(FileId id) {
        locks.computeIfPresent(id, (key, known) -> --known.users == 0 ? null : known);
    }
}
