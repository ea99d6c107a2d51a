package org.nettyrdma.codec.rpcrdma.characteristics;

import java.util.ArrayList;
import java.util.List;
import org.nettyrdma.codec.rpcrdma.header.PropertySet;
import org.nettyrdma.codec.rpcrdma.header.PropertySet.Entry;
import org.nettyrdma.codec.rpcrdma.header.TransportProperty;

/** Sets in which values are replaced. */
final class PropertyReplacement {

    private PropertyReplacement() {
    }

    /** The same set with another value of a property. */
    static <T> PropertySet replace(PropertySet set, TransportProperty<T> property, T value) {
        List<Entry> others = new ArrayList<>(set.entries());
        others.removeIf(entry -> entry.id() == property.id());
        return new PropertySet(others).with(property, value);
    }
}
