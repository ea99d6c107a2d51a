package org.nettyrdma.example.nfs.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class FileLocksTest {

    @Test
    void shouldKeepOnlyWhatSomebodyHas() {
        FileLocks locks = new FileLocks();
        FileId shared = new FileId(1, 1, 0);
        FileLocks.Held first = locks.shared(shared);
        FileLocks.Held second = locks.shared(shared);
        FileLocks.Held other = locks.exclusive(new FileId(1, 2, 0));
        assertEquals(2, locks.size());
        first.release();
        assertEquals(2, locks.size());
        second.release();
        other.release();
        assertEquals(0, locks.size());
    }
}
