package org.nettyrdma.codec.oncrpc;

import io.netty.buffer.ByteBuf;
import io.netty.util.internal.EmptyArrays;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * A credential or a verifier ({@code opaque_auth}, RFC 5531, section 8.2). Immutable.
 */
public final class OpaqueAuth {

    /** Most bytes that the body of a credential or verifier may have (RFC 5531, section 8.2). */
    public static final int MAX_BODY_BYTES = 400;

    /** AUTH_NONE with an empty body (RFC 5531, section 10.1). */
    public static final OpaqueAuth NONE = new OpaqueAuth(AuthFlavor.AUTH_NONE.code(), EmptyArrays.EMPTY_BYTES);

    /** Eight bytes of a body, as a buffer reads them. */
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

    private final int flavor;
    private final byte[] body;
    /** Filled by the first {@link AuthSys#from}; immutable, so that threads may race to fill it. */
    private AuthSys authSys;

    /**
     * Creates a credential or verifier.
     *
     * @param flavor number of its kind, see {@link AuthFlavor}; any number is allowed
     * @param body   what the flavor defines, copied
     * @throws IllegalArgumentException if {@code body} is longer than {@value #MAX_BODY_BYTES} bytes
     */
    public OpaqueAuth(int flavor, byte[] body) {
        if (body.length > MAX_BODY_BYTES) {
            throw new IllegalArgumentException("body is " + body.length + " bytes long, limit " + MAX_BODY_BYTES);
        }
        this.flavor = flavor;
        this.body = body.clone();
    }

    /**
     * The number of its kind.
     *
     * @return the number, see {@link AuthFlavor#of}
     */
    public int flavor() {
        return flavor;
    }

    /**
     * What the flavor defines.
     *
     * @return a copy of the body
     */
    public byte[] body() {
        return body.clone();
    }

    /**
     * The length of the body.
     *
     * @return 0 to {@value #MAX_BODY_BYTES} bytes
     */
    public int bodyLength() {
        return body.length;
    }

    /**
     * Reads a credential or verifier.
     *
     * @param in    where to read; its reader index moves behind the padding of the body
     * @param field name for the exception
     * @return what was read; the object {@link #NONE} if the bytes are equal to it
     * @throws XdrException if the body is longer than {@value #MAX_BODY_BYTES} bytes or not all present
     */
    public static OpaqueAuth read(ByteBuf in, String field) {
        return read(in, field, NONE);
    }

    /**
     * Returns {@code previous} or {@link #NONE} where that is what the bytes say, so that a caller's thousandth equal credential
     * costs nothing.
     */
    static OpaqueAuth read(ByteBuf in, String field, OpaqueAuth previous) {
        long flavorAndLength = Xdr.readHyper(in, field);
        if (flavorAndLength == 0) {
            return NONE;
        }
        int flavor = (int) (flavorAndLength >>> Integer.SIZE);
        int length = Xdr.requireOpaque(in, flavorAndLength & 0xFFFF_FFFFL, MAX_BODY_BYTES, field);
        int start = in.readerIndex();
        in.skipBytes(Xdr.paddedLength(length));
        if (previous.matches(flavor, in, start, length)) {
            return previous;
        }
        byte[] body = new byte[length];
        in.getBytes(start, body);
        return new OpaqueAuth(flavor, body);
    }

    private boolean matches(int otherFlavor, ByteBuf in, int start, int length) {
        if (flavor != otherFlavor || body.length != length) {
            return false;
        }
        int i = 0;
        for (; i <= length - Long.BYTES; i += Long.BYTES) {
            if ((long) LONG.get(body, i) != in.getLong(start + i)) {
                return false;
            }
        }
        for (; i < length; i++) {
            if (body[i] != in.getByte(start + i)) {
                return false;
            }
        }
        return true;
    }

    /**
     * Writes this credential or verifier.
     *
     * @param out where to write
     */
    public void write(ByteBuf out) {
        Xdr.writeTwoInts(out, flavor, body.length);
        if (body.length > 0) {
            Xdr.writeFixedOpaque(out, body);
        }
    }

    /**
     * The bytes that {@link #write} writes.
     *
     * @return 8 to 408
     */
    public int encodedLength() {
        return 2 * Integer.BYTES + Xdr.paddedLength(body.length);
    }

    AuthSys authSys() {
        return authSys;
    }

    void setAuthSys(AuthSys decoded) {
        authSys = decoded;
    }

    byte[] bodyWithoutCopy() {
        return body;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof OpaqueAuth auth && flavor == auth.flavor && Arrays.equals(body, auth.body);
    }

    @Override
    public int hashCode() {
        return 31 * flavor + Arrays.hashCode(body);
    }

    @Override
    public String toString() {
        return "OpaqueAuth(flavor " + Integer.toUnsignedString(flavor) + ", " + body.length + " bytes)";
    }
}
