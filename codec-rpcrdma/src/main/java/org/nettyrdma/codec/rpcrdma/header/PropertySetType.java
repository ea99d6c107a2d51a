package org.nettyrdma.codec.rpcrdma.header;

import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.codec.oncrpc.XdrException;
import org.nettyrdma.codec.rpcrdma.header.PropertySet.Entry;
import org.nettyrdma.codec.rpcrdma.header.PropertySet.Ignored;
import org.nettyrdma.codec.rpcrdma.header.PropertySet.Value;

/** How a {@link PropertySet} stands on the wire. */
final class PropertySetType implements XdrType<PropertySet> {

    /** An entry with an empty value: the id and the length. */
    private static final int SMALLEST_ENTRY_BYTES = 2 * Integer.BYTES;

    private final Map<Integer, TransportProperty<?>> known;

    /**
     * @param known the properties whose values are looked at, by id; immutable
     */
    PropertySetType(Map<Integer, TransportProperty<?>> known) {
        this.known = known;
    }

    @Override
    public PropertySet read(ByteBuf in) {
        int count = Xdr.readArrayLength(in, PropertySet.MAX_ENTRIES, SMALLEST_ENTRY_BYTES, "rdma_props");
        List<Entry> entries = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            int id = Xdr.readInt(in, "rdma_which");
            ByteBuf data = Xdr.readOpaqueSlice(in, Integer.MAX_VALUE, "rdma_data");
            TransportProperty<?> property = known.get(id);
            entries.add(property == null ? new Ignored(id, data.readableBytes()) : readValue(property, data));
        }
        return new PropertySet(entries);
    }

    private static <T> Value<T> readValue(TransportProperty<T> property, ByteBuf data) {
        if (!data.isReadable()) {
            return new Value<>(property, property.defaultValue());
        }
        T value;
        try {
            value = property.type().read(data);
        } catch (RuntimeException | Error e) { // of whatever kind: somebody else's code has read what the peer sent
            throw new XdrException(property.name() + ": " + e.getMessage());
        }
        if (data.isReadable()) {
            throw new XdrException(property.name() + ": " + data.readableBytes() + " bytes after the value");
        }
        return new Value<>(property, value);
    }

    @Override
    public int lengthOf(PropertySet set) {
        int length = Integer.BYTES;
        for (Entry entry : set.entries()) {
            length += SMALLEST_ENTRY_BYTES + Xdr.paddedLength(valueLength(valueOf(entry)));
        }
        return length;
    }

    @Override
    public void write(PropertySet set, ByteBuf out) {
        Xdr.writeInt(out, set.entries().size());
        for (Entry entry : set.entries()) {
            writeEntry(valueOf(entry), out);
        }
    }

    private static <T> void writeEntry(Value<T> entry, ByteBuf out) {
        int length = valueLength(entry);
        Xdr.writeInt(out, entry.id());
        Xdr.writeInt(out, length);
        entry.property().type().write(entry.value(), out);
        Xdr.writePadding(out, length);
    }

    private static <T> int valueLength(Value<T> entry) {
        return entry.property().type().lengthOf(entry.value());
    }

    private static Value<?> valueOf(Entry entry) {
        if (entry instanceof Value<?> value) {
            return value;
        }
        throw new IllegalArgumentException("property " + Integer.toUnsignedString(entry.id()) + " has no value to send");
    }
}
