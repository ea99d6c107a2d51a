package org.nettyrdma.example.nfs.server;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.nettyrdma.example.nfs.protocol.MountEntry;

/** Who mounted what. Only for people to look at: clients forget to say goodbye. Bounded; the monitor guards it. */
final class MountTable {

    private static final int MAX_ENTRIES = 1024;

    private final Set<MountEntry> entries = new LinkedHashSet<>();

    synchronized void add(MountEntry entry) {
        if (entries.size() == MAX_ENTRIES && !entries.contains(entry)) {
            entries.remove(entries.iterator().next());
        }
        entries.add(entry);
    }

    synchronized void remove(MountEntry entry) {
        entries.remove(entry);
    }

    synchronized void removeAll(String host) {
        entries.removeIf(entry -> entry.host().equals(host));
    }

    synchronized List<MountEntry> entries() {
        return List.copyOf(entries);
    }
}
