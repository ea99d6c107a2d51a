package org.nettyrdma.verbs.disni;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.nettyrdma.verbs.SendWorkRequest;

/**
 * Registrations of the memory that one RDMA Read goes to, for as long as it lasts. A device registers no pieces of no
 * bytes, so these are left out.
 */
final class ReadSinks implements SendRing.Aftermath {

    private static final int ACCESS = NativeExtensions.ACCESS_LOCAL_WRITE | NativeExtensions.ACCESS_REMOTE_WRITE;

    private final Registrar registrar;
    private final List<Registration> registrations;
    private final int[] lengths;

    ReadSinks(Registrar registrar, SendWorkRequest read) throws IOException {
        this.registrar = registrar;
        registrations = new ArrayList<>(read.elementCount());
        lengths = new int[read.elementCount()];
        try {
            for (int i = 0; i < read.elementCount(); i++) {
                if (read.length(i) > 0) {
                    lengths[registrations.size()] = read.length(i);
                    registrations.add(registrar.register(read.region(i).memory(), read.offset(i), read.length(i), ACCESS));
                }
            }
        } catch (Throwable t) {
            completed(false);
            throw t;
        }
    }

    int count() {
        return registrations.size();
    }

    Registration registration(int index) {
        return registrations.get(index);
    }

    int length(int index) {
        return lengths[index];
    }

    @Override
    public boolean completed(boolean success) {
        registrations.removeIf(registrar::deregister);
        return registrations.isEmpty();
    }
}
