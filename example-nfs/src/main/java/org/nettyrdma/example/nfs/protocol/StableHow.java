package org.nettyrdma.example.nfs.protocol;

import io.netty.buffer.ByteBuf;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.codec.oncrpc.XdrException;

/** How safe written data has to be when WRITE answers: {@code stable_how} (RFC 1813, section 3.3.7). */
public enum StableHow {

    /** The server may keep the data in memory until COMMIT. */
    UNSTABLE(0),
    /** The data, and what is needed to find it, is on stable storage. */
    DATA_SYNC(1),
    /** The data and all attributes are on stable storage. */
    FILE_SYNC(2);

    private static final StableHow[] BY_CODE = values();

    private final int code;

    StableHow(int code) {
        this.code = code;
    }

    /**
     * The code on the wire.
     *
     * @return 0 to 2
     */
    public int code() {
        return code;
    }

    /**
     * Reads a value.
     *
     * @param in the message
     * @return the value
     * @throws XdrException if RFC 1813 does not define the code
     */
    public static StableHow read(ByteBuf in) {
        int code = Xdr.readInt(in, "stable_how");
        if (code < 0 || code >= BY_CODE.length) {
            throw new XdrException("stable_how: " + code + " (expected: 0..2)");
        }
        return BY_CODE[code];
    }
}
