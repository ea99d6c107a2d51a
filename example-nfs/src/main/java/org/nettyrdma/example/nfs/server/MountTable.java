package org.nettyrdma.example.nfs.server;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.nettyrdma.example.nfs.protocol.MountEntry;
import org.nettyrdma.example.nfs.protocol.MountUpperLayerBinding;

/**
 * Who mounted what. Only for people to look at: clients forget to say goodbye. What one host has mounted several times is listed
 * until it has said goodbye as often, as by the kernel's mountd. Bounded in number, and in bytes so that the list fits into what
 * clients over RDMA offer for it; the oldest leave first. The monitor guards it.
 */
final class MountTable {

    private static final int MAX_ENTRIES = 1024;

    /** How often each is mounted. */
    private final Map<MountEntry, Integer> entries = new LinkedHashMap<>();
    /** What the list takes on the wire, with the word that ends it. */
    private int bytes = Integer.BYTES;

    synchronized void add(MountEntry entry) {
        if (entries.merge(entry, 1, Integer::sum) == 1) {
            bytes += entry.length();
        }
        while (entries.size() > MAX_ENTRIES || bytes > MountUpperLayerBinding.MAX_LIST_BYTES) {
            forget(entries.keySet().iterator().next());
        }
    }

    synchronized void remove(MountEntry entry) {
        Integer times = entries.get(entry);
        if (times != null && times > 1) {
            entries.put(entry, times - 1);
        } else if (times != null) {
            forget(entry);
        }
    }

    synchronized void removeAll(String host) {
        entries.keySet().stream().filter(entry -> entry.host().equals(host)).toList().forEach(this::forget);
    }

    synchronized List<MountEntry> entries() {
        return List.copyOf(entries.keySet());
    }

    private void forget(MountEntry entry) {
        entries.remove(entry);
        bytes -= entry.length();
    }
}
