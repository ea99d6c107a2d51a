package org.nettyrdma.example.nfs.protocol;

import io.netty.buffer.ByteBuf;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.codec.oncrpc.XdrException;

/** The types of files: {@code ftype3} (RFC 1813, section 2.6). */
public enum FileType {

    /** A regular file. */
    REGULAR(1),
    /** A directory. */
    DIRECTORY(2),
    /** A block special device. */
    BLOCK_DEVICE(3),
    /** A character special device. */
    CHARACTER_DEVICE(4),
    /** A symbolic link. */
    SYMBOLIC_LINK(5),
    /** A socket. */
    SOCKET(6),
    /** A named pipe. */
    FIFO(7);

    private static final FileType[] BY_CODE = values();

    private final int code;

    FileType(int code) {
        this.code = code;
    }

    /**
     * The code on the wire.
     *
     * @return 1 to 7
     */
    public int code() {
        return code;
    }

    /**
     * Reads a type.
     *
     * @param in the message
     * @return the type
     * @throws XdrException if RFC 1813 does not define the code
     */
    public static FileType read(ByteBuf in) {
        int code = Xdr.readInt(in, "ftype3");
        if (code < 1 || code > BY_CODE.length) {
            throw new XdrException("ftype3: " + code + " (expected: 1..7)");
        }
        return BY_CODE[code - 1];
    }
}
