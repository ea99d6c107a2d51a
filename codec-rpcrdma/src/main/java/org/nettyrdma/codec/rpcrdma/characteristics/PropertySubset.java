package org.nettyrdma.codec.rpcrdma.characteristics;

import io.netty.buffer.ByteBuf;
import java.util.BitSet;
import java.util.Objects;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.codec.rpcrdma.header.PropertySet;
import org.nettyrdma.codec.rpcrdma.header.XdrType;

/**
 * A {@code rpcrdma2_propsubset}: some of the values of a {@link PropertySet}, by their position in it (xcharext-02, section 2.1).
 * On the wire bit N mod 32 of word N div 32 stands for position N. Missing words are zero. Immutable.
 */
final class PropertySubset {

    /** No value. */
    static final PropertySubset EMPTY = new PropertySubset(new BitSet());

    /** How subsets stand on the wire. Words of zero at the end are read and never written. */
    static final XdrType<PropertySubset> XDR = new Type();

    private static final int MAX_WORDS = PropertySet.MAX_ENTRIES / Integer.SIZE;

    private final BitSet positions;

    private PropertySubset(BitSet positions) {
        this.positions = positions;
    }

    /**
     * Creates a subset.
     *
     * @param positions the positions, from 0 to less than {@link PropertySet#MAX_ENTRIES}, in any order
     * @return the subset
     * @throws IndexOutOfBoundsException if one is out of its range
     */
    static PropertySubset of(int... positions) {
        BitSet bits = new BitSet();
        for (int position : positions) {
            bits.set(Objects.checkIndex(position, PropertySet.MAX_ENTRIES));
        }
        return new PropertySubset(bits);
    }

    /**
     * Whether a value is in the subset.
     *
     * @param position its position in the set
     * @return {@code true} if it is
     */
    boolean contains(int position) {
        return positions.get(position);
    }

    /** This subset and one position more. */
    PropertySubset with(int position) {
        BitSet more = (BitSet) positions.clone();
        more.set(position);
        return new PropertySubset(more);
    }

    /** One more than the highest position, 0 without any. */
    int end() {
        return positions.length();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof PropertySubset subset && positions.equals(subset.positions);
    }

    @Override
    public int hashCode() {
        return positions.hashCode();
    }

    @Override
    public String toString() {
        return positions.toString();
    }

    private static final class Type implements XdrType<PropertySubset> {

        @Override
        public PropertySubset read(ByteBuf in) {
            int words = Xdr.readArrayLength(in, MAX_WORDS, Integer.BYTES, "rpcrdma2_propsubset");
            BitSet positions = new BitSet();
            for (int i = 0; i < words * Integer.SIZE; i += Integer.SIZE) {
                int word = Xdr.readInt(in, "rpcrdma2_propsubset");
                for (int bit = 0; bit < Integer.SIZE; bit++) {
                    positions.set(i + bit, (word >>> bit & 1) != 0);
                }
            }
            return new PropertySubset(positions);
        }

        @Override
        public int lengthOf(PropertySubset subset) {
            return Integer.BYTES * (1 + words(subset));
        }

        @Override
        public void write(PropertySubset subset, ByteBuf out) {
            int words = words(subset);
            Xdr.writeInt(out, words);
            for (int i = 0; i < words * Integer.SIZE; i += Integer.SIZE) {
                int word = 0;
                for (int bit = 0; bit < Integer.SIZE; bit++) {
                    word |= subset.contains(i + bit) ? 1 << bit : 0;
                }
                Xdr.writeInt(out, word);
            }
        }

        private static int words(PropertySubset subset) {
            return (subset.end() + Integer.SIZE - 1) / Integer.SIZE;
        }
    }
}
