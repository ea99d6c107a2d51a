package org.nettyrdma.codec.rpcrdma.header;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/**
 * The extensions of version 2 that this side understands: header types, transport properties, errors and flags
 * (version-two-08, section 9). Immutable, so one instance serves any number of connections.
 * <pre>{@code
 * HeaderExtensions extensions = HeaderExtensions.builder()
 *         .headerType(new HeaderType<>(0x40, "PING", pingXdr, false, false))
 *         .property(new TransportProperty<>(0xFFFFFF01, "Site", "", siteXdr))
 *         .build();
 * }</pre>
 */
public final class HeaderExtensions {

    /** The base protocol and nothing more. */
    public static final HeaderExtensions NONE = builder().build();

    private final Map<Integer, HeaderType<?>> headerTypes;
    private final Map<Integer, TransportProperty<?>> properties;
    private final Map<Integer, ErrorType<?>> errors;
    private final Map<Integer, HeaderFlag> flags;
    private final int flagMask;
    private final XdrType<PropertySet> propertySets;

    private HeaderExtensions(Builder builder) {
        headerTypes = Map.copyOf(builder.headerTypes);
        properties = Map.copyOf(builder.properties);
        errors = Map.copyOf(builder.errors);
        flags = new LinkedHashMap<>(builder.flags);
        int mask = 0;
        for (int bit : flags.keySet()) {
            mask |= bit;
        }
        flagMask = mask;
        propertySets = new PropertySetType(properties);
    }

    /**
     * Starts with the base protocol.
     *
     * @return a builder
     */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * How sets of properties stand on the wire, for header types that have one in them.
     *
     * @return a type that looks at the values of the properties known here
     */
    public XdrType<PropertySet> propertySets() {
        return propertySets;
    }

    /**
     * Names flags, for logs.
     *
     * @param word the flag word of a header
     * @return the names, separated by {@code |}, with hexadecimal digits for flags without a name; empty if no flag is set
     */
    public String flagNames(int word) {
        StringBuilder names = new StringBuilder();
        for (HeaderFlag flag : flags.values()) {
            if ((word & flag.mask()) != 0) {
                names.append(names.isEmpty() ? "" : "|").append(flag.name());
            }
        }
        int rest = word & ~flagMask;
        if (rest != 0) {
            names.append(names.isEmpty() ? "0x" : "|0x").append(Integer.toHexString(rest));
        }
        return names.toString();
    }

    /**
     * The header type with this code, or {@code null}.
     *
     * @param code what the header says
     * @return the type, {@code null} if none has been added with it
     */
    public HeaderType<?> headerType(int code) {
        return headerTypes.get(code);
    }

    /**
     * Whether there are header types at all, with which the ends of a connection may change what they have agreed on.
     *
     * @return {@code true} if there are any
     */
    public boolean hasHeaderTypes() {
        return !headerTypes.isEmpty();
    }

    /**
     * Whether there are header types whose messages the credit gate bounds.
     *
     * @return {@code true} if there are any
     */
    public boolean hasBoundedTypes() {
        return headerTypes.values().stream().anyMatch(type -> type.accounting() == HeaderType.Accounting.BOUNDED);
    }

    /**
     * The error with this code, or {@code null}.
     *
     * @param code what the header says
     * @return the type, {@code null} if none has been added with it
     */
    public ErrorType<?> error(int code) {
        return errors.get(code);
    }

    /**
     * All flags that are known.
     *
     * @return their bits in the flag word
     */
    public int flagMask() {
        return flagMask;
    }

    /** Collects extensions. Not thread safe. */
    public static final class Builder {

        private final Map<Integer, HeaderType<?>> headerTypes = new HashMap<>();
        private final Map<Integer, TransportProperty<?>> properties = new HashMap<>();
        private final Map<Integer, ErrorType<?>> errors = new HashMap<>();
        private final Map<Integer, HeaderFlag> flags = new LinkedHashMap<>();

        private Builder() {
            property(TransportProperty.RECEIVE_BUFFER_SIZE);
            property(TransportProperty.REVERSE_REQUEST_SUPPORT);
            flag(HeaderFlag.RESPONSE);
        }

        /**
         * Adds an OPTIONAL header type. Without this, messages of the type are answered with RDMA2_ERR_INVAL_HTYPE.
         *
         * @param type the header type
         * @return this
         * @throws IllegalArgumentException if the code is taken
         */
        public Builder headerType(HeaderType<?> type) {
            return put(headerTypes, type.code(), type);
        }

        /**
         * Adds a transport property. Without this, its values are ignored.
         *
         * @param property the property
         * @return this
         * @throws IllegalArgumentException if the id is taken
         */
        public Builder property(TransportProperty<?> property) {
            return put(properties, property.id(), property);
        }

        /**
         * Adds an error. Without this, it is {@link RpcRdmaError.Unknown} where it is received.
         *
         * @param error the error
         * @return this
         * @throws IllegalArgumentException if the code is taken
         */
        public Builder error(ErrorType<?> error) {
            return put(errors, error.code(), error);
        }

        /**
         * Adds a flag. Without this, the bit is ignored where it is received and refused where it is to be sent.
         *
         * @param flag the flag
         * @return this
         * @throws IllegalArgumentException if the bit is taken
         */
        public Builder flag(HeaderFlag flag) {
            return put(flags, flag.mask(), flag);
        }

        private <T> Builder put(Map<Integer, T> map, int code, T extension) {
            Objects.requireNonNull(extension, "extension");
            T earlier = map.putIfAbsent(code, extension);
            if (earlier != null) {
                throw new IllegalArgumentException(extension + " has the number of " + earlier);
            }
            return this;
        }

        /**
         * Makes the extensions.
         *
         * @return what was added
         */
        public HeaderExtensions build() {
            return new HeaderExtensions(this);
        }
    }
}
