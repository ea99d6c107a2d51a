package org.nettyrdma.codec.rpcrdma.characteristics;

import java.util.List;
import org.nettyrdma.codec.rpcrdma.header.PropertySet;

/**
 * The outcome of a request, when no change of it is pending any more.
 *
 * @param dispositions for each value of the request, in its order
 * @param peer         the peer's properties now, as far as it has told them
 */
public record Outcome(List<Disposition> dispositions, PropertySet peer) {

    /** The outcome for one value of a request (xcharext-02, sections 4.3 and 4.4). */
    public enum Disposition {
        /** The property has the value that was asked for. */
        DONE,
        /** The property has a value between the old one and the requested one. Only after the change was pending. */
        PARTIAL,
        /** The property has its old value: the peer has rejected the change, or does not have the extension. */
        REJECTED
    }

    /**
     * Copies the list unless it is immutable.
     *
     * @param dispositions for each value of the request, in its order
     * @param peer         the peer's properties now
     */
    public Outcome {
        dispositions = List.copyOf(dispositions);
    }
}
