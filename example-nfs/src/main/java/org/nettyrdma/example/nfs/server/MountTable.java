package org.nettyrdma.example.nfs.server;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.nettyrdma.example.nfs.protocol.MountEntry;
import org.nettyrdma.example.nfs.protocol.MountUpperLayerBinding;

/**
 * Who mounted what. Only for people to look at: clients forget to say goodbye. Bounded in number, and in bytes so that the list
 * fits into what clients over RDMA offer for it; the oldest leave first. The monitor guards it.
 */
final class MountTable {

    private static final int MAX_ENTRIES = 1024;

    private final Set<MountEntry> entries = new LinkedHashSet<>();
    /** What the list takes on the wire, with the word that ends it. */
    private int bytes = Integer.BYTES;

    synchronized void add(MountEntry entry) {
        if (entries.add(entry)) {
            bytes += entry.length();
        }
        while (entries.size() > MAX_ENTRIES || bytes > MountUpperLayerBinding.MAX_LIST_BYTES) {
            remove(entries.iterator().next());
        }
    }

    synchronized void remove(MountEntry entry) {
        if (entries.remove(entry)) {
            bytes -= entry.length();
        }
    }

    synchronized void removeAll(String host) {
        entries.stream().filter(entry -> entry.host().equals(host)).toList().forEach(this::remove);
    }

    synchronized List<MountEntry> entries() {
        return List.copyOf(entries);
    }
}
