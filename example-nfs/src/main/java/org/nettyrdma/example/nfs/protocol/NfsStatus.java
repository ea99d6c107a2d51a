package org.nettyrdma.example.nfs.protocol;

import java.util.Arrays;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The first word of every NFS version 3 result (RFC 1813, section 2.6). */
public enum NfsStatus {

    /** Success: {@code NFS3_OK}. */
    OK(0),
    /** The caller is not the owner: {@code NFS3ERR_PERM}. */
    PERM(1),
    /** No such file or directory: {@code NFS3ERR_NOENT}. */
    NOENT(2),
    /** The device failed: {@code NFS3ERR_IO}. */
    IO(5),
    /** No such device: {@code NFS3ERR_NXIO}. */
    NXIO(6),
    /** Permission denied: {@code NFS3ERR_ACCES}. */
    ACCES(13),
    /** The name exists: {@code NFS3ERR_EXIST}. */
    EXIST(17),
    /** The two names are on different file systems: {@code NFS3ERR_XDEV}. */
    XDEV(18),
    /** The device does not take this operation: {@code NFS3ERR_NODEV}. */
    NODEV(19),
    /** Not a directory: {@code NFS3ERR_NOTDIR}. */
    NOTDIR(20),
    /** Is a directory: {@code NFS3ERR_ISDIR}. */
    ISDIR(21),
    /** An argument makes no sense here: {@code NFS3ERR_INVAL}. */
    INVAL(22),
    /** The file would grow too large: {@code NFS3ERR_FBIG}. */
    FBIG(27),
    /** The file system is full: {@code NFS3ERR_NOSPC}. */
    NOSPC(28),
    /** The file system is read-only: {@code NFS3ERR_ROFS}. */
    ROFS(30),
    /** The file has too many names: {@code NFS3ERR_MLINK}. */
    MLINK(31),
    /** The name is too long: {@code NFS3ERR_NAMETOOLONG}. */
    NAMETOOLONG(63),
    /** The directory is not empty: {@code NFS3ERR_NOTEMPTY}. */
    NOTEMPTY(66),
    /** The quota of the caller is used up: {@code NFS3ERR_DQUOT}. */
    DQUOT(69),
    /** The file of this handle is gone: {@code NFS3ERR_STALE}. */
    STALE(70),
    /** The file is on another server: {@code NFS3ERR_REMOTE}. */
    REMOTE(71),
    /** Not a handle of this server: {@code NFS3ERR_BADHANDLE}. */
    BADHANDLE(10001),
    /** The file changed since the guard was read: {@code NFS3ERR_NOT_SYNC}. */
    NOT_SYNC(10002),
    /** Not a cookie of this directory: {@code NFS3ERR_BAD_COOKIE}. */
    BAD_COOKIE(10003),
    /** The server does not have this operation: {@code NFS3ERR_NOTSUPP}. */
    NOTSUPP(10004),
    /** The buffer or the request is too small: {@code NFS3ERR_TOOSMALL}. */
    TOOSMALL(10005),
    /** The server failed in a way that no other code names: {@code NFS3ERR_SERVERFAULT}. */
    SERVERFAULT(10006),
    /** Not a type that the server can create: {@code NFS3ERR_BADTYPE}. */
    BADTYPE(10007),
    /** Not now: try again later: {@code NFS3ERR_JUKEBOX}. */
    JUKEBOX(10008),
    /** A code that RFC 1813 does not define; received only, never sent. */
    UNKNOWN(-1);

    private static final Map<Integer, NfsStatus> BY_CODE =
            Arrays.stream(values()).collect(Collectors.toUnmodifiableMap(NfsStatus::code, Function.identity()));

    private final int code;

    NfsStatus(int code) {
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
    public static NfsStatus of(int code) {
        return BY_CODE.getOrDefault(code, UNKNOWN);
    }
}
