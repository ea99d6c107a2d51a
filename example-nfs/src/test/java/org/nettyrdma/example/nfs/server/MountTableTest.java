package org.nettyrdma.example.nfs.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.nettyrdma.example.nfs.protocol.MountEntry;

class MountTableTest {

    @Test
    void shouldForgetTheOldestBeyondItsBound() {
        MountTable table = new MountTable();
        for (int i = 0; i < 1100; i++) {
            table.add(new MountEntry("host", "/" + i));
        }
        assertEquals(1024, table.entries().size());
        assertEquals("/76", table.entries().get(0).directory());
    }
}
