package org.nettyrdma.codec.rpcrdma.header;

import io.netty.buffer.ByteBuf;
import java.util.Objects;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.codec.oncrpc.XdrException;

/**
 * A property that one side of a connection tells the other about itself (version-two-08, section 4). The properties of the base
 * protocol are constants of this type; others can be registered with {@link HeaderExtensions}.
 *
 * @param <T>          what a value is in Java
 * @param id           {@code rpcrdma2_propid}, any number
 * @param name         what logs call it
 * @param defaultValue what holds for a peer that has not told it, or has told it with a value of length 0
 * @param type         how a value stands on the wire
 */
public record TransportProperty<T>(int id, String name, T defaultValue, XdrType<T> type) {

    /**
     * Receive Buffer Size (version-two-08, section 4.2.1), id 1: the least size of the sender's receive buffers in bytes, 0 to
     * 4294967295, and so the largest message that it can be sent. Default 4096.
     */
    public static final TransportProperty<Long> RECEIVE_BUFFER_SIZE =
            new TransportProperty<>(1, "Receive Buffer Size", 4096L, new UnsignedInt());

    /**
     * Reverse Request Support (version-two-08, section 4.2.2), id 2: which calls from server to client the sender supports.
     * Default {@link ReverseRequestSupport#INLINE}.
     */
    public static final TransportProperty<ReverseRequestSupport> REVERSE_REQUEST_SUPPORT =
            new TransportProperty<>(2, "Reverse Request Support", ReverseRequestSupport.INLINE, new ReverseSupport());

    /**
     * Checks that nothing is missing.
     *
     * @param id           the number
     * @param name         what logs call it
     * @param defaultValue what holds if nothing was told
     * @param type         how a value stands on the wire
     */
    public TransportProperty {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(defaultValue, "defaultValue");
        Objects.requireNonNull(type, "type");
    }

    @Override
    public String toString() {
        return name;
    }

    private static final class UnsignedInt implements XdrType<Long> {

        @Override
        public Long read(ByteBuf in) {
            return Xdr.readUnsignedInt(in, "uint32");
        }

        @Override
        public int lengthOf(Long value) {
            if (value >>> Integer.SIZE != 0) {
                throw new IllegalArgumentException("value: " + value + " (expected: 0..4294967295)");
            }
            return Integer.BYTES;
        }

        @Override
        public void write(Long value, ByteBuf out) {
            Xdr.writeUnsignedInt(out, value);
        }
    }

    private static final class ReverseSupport implements XdrType<ReverseRequestSupport> {

        @Override
        public ReverseRequestSupport read(ByteBuf in) {
            int code = Xdr.readInt(in, "rpcrdma2_rvreqsup");
            for (ReverseRequestSupport support : ReverseRequestSupport.values()) {
                if (support.code() == code) {
                    return support;
                }
            }
            throw new XdrException("rpcrdma2_rvreqsup: " + Integer.toUnsignedString(code) + " (expected: 0..2)");
        }

        @Override
        public int lengthOf(ReverseRequestSupport value) {
            return Integer.BYTES;
        }

        @Override
        public void write(ReverseRequestSupport value, ByteBuf out) {
            Xdr.writeInt(out, value.code());
        }
    }
}
