package org.nettyrdma.verbs.shm;

import java.util.function.IntSupplier;
import org.nettyrdma.verbs.support.SteeringTagGenerator;

/** New steering tags; and tags that a user was told already, for the queue pair that is to honour them. */
final class ReplayedTags implements IntSupplier {

    private final IntSupplier generator = new SteeringTagGenerator();
    /** 0 for a new one. */
    private int next;

    /** The next tag is to be this one. */
    void replay(int tag) {
        next = tag;
    }

    @Override
    public int getAsInt() {
        int tag = next != 0 ? next : generator.getAsInt();
        next = 0;
        return tag;
    }
}
