package org.nettyrdma.example.nfs.client;

import java.io.IOException;
import org.nettyrdma.example.nfs.protocol.NfsProcedure;
import org.nettyrdma.example.nfs.protocol.NfsStatus;

/** The server answered a call with an NFS error. The message says which call failed, and why. */
public final class NfsException extends IOException {

    private static final long serialVersionUID = 1L;

    private final NfsStatus status;

    NfsException(NfsProcedure procedure, NfsStatus status, int code) {
        super(describe(status, code) + ", answered to " + procedure);
        this.status = status;
    }

    NfsException(String path, NfsStatus status) {
        super(path + ": " + describe(status, status.code()));
        this.status = status;
    }

    NfsException(String path, NfsException cause) {
        super(path + ": " + cause.getMessage(), cause);
        status = cause.status;
    }

    private NfsException(NfsException cause, String more) {
        super(cause.getMessage() + more, cause);
        status = cause.status;
    }

    /** The name was free before the call that the server refuses because it is not. */
    static NfsException madeMeanwhile(NfsException refusal) {
        return new NfsException(refusal, "; it did not exist a moment ago: another client has made it, or this one, if the"
                + " server was lost before it could answer");
    }

    /**
     * Returns what the server says.
     *
     * @return the status, never {@link NfsStatus#OK}
     */
    public NfsStatus status() {
        return status;
    }

    /** Whether other files fail for the same reason. */
    boolean isOfAll() {
        return status == NfsStatus.NOSPC || status == NfsStatus.DQUOT || status == NfsStatus.ROFS;
    }

    private static String describe(NfsStatus status, int code) {
        return status == NfsStatus.UNKNOWN ? "unknown error " + code : words(status) + " (NFS3ERR_" + status + ')';
    }

    private static String words(NfsStatus status) {
        return switch (status) {
            case OK -> "success";
            case PERM -> "only the owner may do this";
            case NOENT -> "no such file or directory";
            case IO -> "the server's storage failed";
            case NXIO, NODEV -> "no such device";
            case ACCES -> "permission denied";
            case EXIST -> "it exists already";
            case XDEV -> "the names are on different file systems";
            case NOTDIR -> "not a directory";
            case ISDIR -> "it is a directory";
            case INVAL -> "the server refuses an argument";
            case FBIG -> "the file would become too large";
            case NOSPC -> "no space left on the server";
            case ROFS -> "the export is read-only";
            case MLINK -> "the file has too many names";
            case NAMETOOLONG -> "the name is too long";
            case NOTEMPTY -> "the directory is not empty";
            case DQUOT -> "the quota is used up";
            case STALE -> "the file, or its export, is gone from the server";
            case REMOTE -> "the file is on another server";
            case BADHANDLE -> "the server does not know the file handle";
            case NOT_SYNC -> "the file changed meanwhile";
            case BAD_COOKIE -> "the directory changed while it was listed";
            case NOTSUPP -> "the server does not support this";
            case TOOSMALL -> "a size in the request is too small";
            case SERVERFAULT -> "the server failed";
            case BADTYPE -> "the server does not support this type of file";
            case JUKEBOX -> "the server asks to try again later";
            case UNKNOWN -> "unknown error";
        };
    }
}
