package org.nettyrdma.codec.rpcrdma.header;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * A {@code rpcrdma2_propset}: values of transport properties (version-two-08, section 4.1). The order has no meaning in the base
 * protocol. But {@code rpcrdma2_propsubset} counts positions, so the order is kept, and unknown properties keep their positions.
 * Immutable.
 *
 * @param entries the values in their order
 */
public record PropertySet(List<Entry> entries) {

    /** No property. */
    public static final PropertySet EMPTY = new PropertySet(List.of());

    /** Most properties accepted in one set. The receive buffer bounds the size of their values. */
    public static final int MAX_ENTRIES = 256;

    /** One place in a set. */
    public sealed interface Entry {

        /**
         * Which property this is.
         *
         * @return {@code rdma_which}, an unsigned number
         */
        int id();
    }

    /**
     * A property that is known.
     *
     * @param <T>      what a value of the property is
     * @param property the property
     * @param value    its value
     */
    public record Value<T>(TransportProperty<T> property, T value) implements Entry {

        /**
         * Checks that both are there.
         *
         * @param property the property
         * @param value    its value
         */
        public Value {
            Objects.requireNonNull(property, "property");
            Objects.requireNonNull(value, "value");
        }

        @Override
        public int id() {
            return property.id();
        }
    }

    /**
     * Received only: a property that is not registered. Its value was not read (version-two-08, section 4.1).
     *
     * @param id         the property
     * @param valueBytes the length of its value in bytes
     */
    public record Ignored(int id, int valueBytes) implements Entry {
    }

    /**
     * Copies the list unless it is immutable.
     *
     * @param entries the values in their order
     */
    public PropertySet {
        entries = List.copyOf(entries);
    }

    /**
     * This set and one value more.
     *
     * @param <T>      what a value of the property is
     * @param property the property
     * @param value    its value
     * @return the larger set
     */
    public <T> PropertySet with(TransportProperty<T> property, T value) {
        List<Entry> more = new ArrayList<>(entries);
        more.add(new Value<>(property, value));
        return new PropertySet(more);
    }

    /**
     * Whether the set says something about a property.
     *
     * @param property the property
     * @return {@code true} if so
     */
    public boolean contains(TransportProperty<?> property) {
        return find(property) != null;
    }

    /**
     * The value of a property in the set. If there are several values, which the draft neither allows nor forbids, it is the last
     * one.
     *
     * @param <T>      what a value of the property is
     * @param property the property
     * @return its value, the default if the set does not have it
     */
    public <T> T get(TransportProperty<T> property) {
        Value<?> found = find(property);
        if (found == null) {
            return property.defaultValue();
        }
        @SuppressWarnings("unchecked") // equal properties have the same type of values
        T value = (T) found.value();
        return value;
    }

    private Value<?> find(TransportProperty<?> property) {
        Value<?> found = null;
        for (Entry entry : entries) {
            if (entry instanceof Value<?> value && value.property().equals(property)) {
                found = value;
            }
        }
        return found;
    }
}
