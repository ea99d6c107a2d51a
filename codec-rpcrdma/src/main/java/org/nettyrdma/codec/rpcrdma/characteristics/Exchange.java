package org.nettyrdma.codec.rpcrdma.characteristics;

import io.netty.util.concurrent.Promise;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.nettyrdma.codec.rpcrdma.characteristics.Outcome.Disposition;
import org.nettyrdma.codec.rpcrdma.header.PropertySet;
import org.nettyrdma.codec.rpcrdma.header.PropertySet.Value;
import org.nettyrdma.codec.rpcrdma.header.TransportProperty;

/** One request of this side, until nothing of it is pending. Event loop only. */
final class Exchange {

    private final List<Value<?>> wanted = new ArrayList<>();
    /** Sent ahead of the request, {@code null} if there is nothing to tell. */
    private final PropertyUpdate update;
    private final Promise<Outcome> promise;
    private final Disposition[] dispositions;
    private final Object[] earlier;
    /** Why the peer does not know the update, {@code null} if it does. */
    private Throwable untold;

    Exchange(PropertySet wanted, PropertyUpdate update, Promise<Outcome> promise) {
        wanted.entries().forEach(entry -> this.wanted.add((Value<?>) entry));
        this.update = update;
        this.promise = promise;
        dispositions = new Disposition[this.wanted.size()];
        earlier = new Object[dispositions.length];
    }

    List<Value<?>> wanted() {
        return wanted;
    }

    boolean asksFor(TransportProperty<?> property) {
        return wanted.stream().anyMatch(value -> value.property().equals(property));
    }

    PropertyUpdate update() {
        return update;
    }

    Promise<Outcome> promise() {
        return promise;
    }

    /** The update could not be sent, or was refused. */
    void untold(Throwable cause) {
        untold = cause;
    }

    /** The change of a value is pending, and has begun at another one. */
    void deferred(int position, Object value) {
        earlier[position] = value;
    }

    void settled(int position, Disposition disposition) {
        dispositions[position] = disposition;
    }

    /** The pending change of a property has come to its end. */
    void completed(TransportProperty<?> property, Object value) {
        for (int i = 0; i < dispositions.length; i++) {
            if (wanted.get(i).property().equals(property)) {
                settled(i, value.equals(wanted.get(i).value()) ? Disposition.DONE
                        : value.equals(earlier[i]) ? Disposition.REJECTED : Disposition.PARTIAL);
            }
        }
    }

    void rejected() {
        Arrays.fill(dispositions, Disposition.REJECTED);
    }

    /** Tells the outcome if nothing is pending. */
    void finish(PropertySet peer) {
        if (untold != null) {
            promise.tryFailure(untold);
        } else if (!Arrays.asList(dispositions).contains(null)) {
            promise.trySuccess(new Outcome(List.of(dispositions), peer));
        }
    }
}
