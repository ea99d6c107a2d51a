package org.nettyrdma.example.nfs.client;

import java.io.IOException;
import org.nettyrdma.example.nfs.protocol.MountStatus;

/** The server refused to mount a path, or exports nothing that the path lies in. */
public final class MountException extends IOException {

    private static final long serialVersionUID = 1L;

    MountException(String path, MountStatus status) {
        super("cannot mount " + path + ": " + words(status) + " (MNT3ERR_" + status + ')');
    }

    MountException(String message) {
        super(message);
    }

    private static String words(MountStatus status) {
        return switch (status) {
            case NOENT -> "no such directory";
            case PERM, ACCES -> "permission denied to this host, to ports above 1023, or to this user";
            case NOTDIR -> "not a directory";
            case NAMETOOLONG -> "the path is too long";
            case INVAL -> "the server refuses the path";
            case NOTSUPP -> "the server does not support this";
            case OK, IO, SERVERFAULT, UNKNOWN -> "the server failed";
        };
    }
}
