package org.nettyrdma.codec.rpcrdma.header;

import io.netty.buffer.ByteBuf;
import org.nettyrdma.codec.oncrpc.XdrException;

/**
 * How the values of an XDR type stand on the wire (RFC 4506). An extension implements it for a header type, a property or an
 * error of its own, with the methods of {@link org.nettyrdma.codec.oncrpc.Xdr}. The event loops of all connections use it at
 * once, so it must keep no state.
 *
 * @param <T> what a value is in Java; immutable, and holds no reference counted memory
 */
public interface XdrType<T> {

    /** No bytes at all, XDR's void; its only value is the empty string. */
    XdrType<String> VOID = new XdrType<>() {

        @Override
        public String read(ByteBuf in) {
            return "";
        }

        @Override
        public int lengthOf(String value) {
            return 0;
        }

        @Override
        public void write(String value, ByteBuf out) {
            // Void is written as nothing.
        }
    };

    /**
     * Reads a value. Nothing may be allocated from a length that the peer sent before it was compared with a limit and with the
     * bytes present.
     *
     * @param in the bytes, which stay with the caller; afterwards the reader index stands behind the value
     * @return the value, never {@code null}
     * @throws XdrException if the bytes are not a value of this type; the message is then answered with RDMA2_ERR_BAD_XDR
     */
    T read(ByteBuf in);

    /**
     * The length of a value on the wire.
     *
     * @param value a value
     * @return its length in bytes, 0 or more
     * @throws IllegalArgumentException if it is not a value of this type; then it is not sent
     */
    int lengthOf(T value);

    /**
     * Writes a value.
     *
     * @param value a value
     * @param out   where to append the {@link #lengthOf} bytes; it stays with the caller
     * @throws IllegalArgumentException if it is not a value of this type; then it is not sent
     */
    void write(T value, ByteBuf out);
}
