package org.nettyrdma.example.nfs.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
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

    /** Two programs of one host may use the same export, and one of them leaves. */
    @Test
    void shouldListAHostUntilItHasLeftAsOftenAsItCame() {
        MountTable table = new MountTable();
        MountEntry entry = new MountEntry("host", "/");
        table.add(entry);
        table.add(entry);
        table.remove(entry);
        assertEquals(List.of(entry), table.entries());
        table.remove(entry);
        table.remove(entry);
        assertEquals(List.of(), table.entries());
    }

    @Test
    void shouldForgetAHostThatLeavesForGood() {
        MountTable table = new MountTable();
        table.add(new MountEntry("host", "/"));
        table.add(new MountEntry("host", "/"));
        table.add(new MountEntry("other", "/"));
        table.removeAll("host");
        assertEquals(List.of(new MountEntry("other", "/")), table.entries());
    }
}
