package org.nettyrdma.example.nfs.protocol;

import io.netty.buffer.ByteBuf;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.codec.oncrpc.XdrException;

/** What CREATE does where the name exists: {@code createmode3} (RFC 1813, section 3.3.8). */
public enum CreateMode {

    /** The existing file is taken, and given the new size if one is set. */
    UNCHECKED(0),
    /** The existing file is an error. */
    GUARDED(1),
    /** The existing file is an error unless a call with the same verifier created it. */
    EXCLUSIVE(2);

    private static final CreateMode[] BY_CODE = values();

    private final int code;

    CreateMode(int code) {
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
    public static CreateMode read(ByteBuf in) {
        int code = Xdr.readInt(in, "createmode3");
        if (code < 0 || code >= BY_CODE.length) {
            throw new XdrException("createmode3: " + code + " (expected: 0..2)");
        }
        return BY_CODE[code];
    }
}
