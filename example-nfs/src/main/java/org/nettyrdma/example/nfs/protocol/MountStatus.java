package org.nettyrdma.example.nfs.protocol;

import io.netty.buffer.ByteBuf;
import java.util.Arrays;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.nettyrdma.codec.oncrpc.Xdr;

/** The first word of the result of MNT: {@code mountstat3} (RFC 1813, section 5.1.5). */
public enum MountStatus {

    /** Success: {@code MNT3_OK}. */
    OK(0),
    /** The caller is not the owner: {@code MNT3ERR_PERM}. */
    PERM(1),
    /** No such directory: {@code MNT3ERR_NOENT}. */
    NOENT(2),
    /** The device failed: {@code MNT3ERR_IO}. */
    IO(5),
    /** Permission denied: {@code MNT3ERR_ACCES}. */
    ACCES(13),
    /** Not a directory: {@code MNT3ERR_NOTDIR}. */
    NOTDIR(20),
    /** The argument makes no sense: {@code MNT3ERR_INVAL}. */
    INVAL(22),
    /** The path is too long: {@code MNT3ERR_NAMETOOLONG}. */
    NAMETOOLONG(63),
    /** The server does not have this operation: {@code MNT3ERR_NOTSUPP}. */
    NOTSUPP(10004),
    /** The server failed in a way that no other code names: {@code MNT3ERR_SERVERFAULT}. */
    SERVERFAULT(10006),
    /** A code that RFC 1813 does not define; received only, never sent. */
    UNKNOWN(-1);

    private static final Map<Integer, MountStatus> BY_CODE =
            Arrays.stream(values()).collect(Collectors.toUnmodifiableMap(MountStatus::code, Function.identity()));

    private final int code;

    MountStatus(int code) {
        this.code = code;
    }

    /**
     * The code on the wire.
     *
     * @return the code, -1 for {@link #UNKNOWN}
     */
    public int code() {
        return code;
    }

    /**
     * Finds a status.
     *
     * @param code the code on the wire
     * @return the status, {@link #UNKNOWN} if RFC 1813 does not define the code
     */
    public static MountStatus of(int code) {
        return BY_CODE.getOrDefault(code, UNKNOWN);
    }

    /**
     * Reads a status.
     *
     * @param in the result
     * @return the status, {@link #UNKNOWN} if RFC 1813 does not define the code
     */
    public static MountStatus read(ByteBuf in) {
        return of(Xdr.readInt(in, "mountstat3"));
    }
}
