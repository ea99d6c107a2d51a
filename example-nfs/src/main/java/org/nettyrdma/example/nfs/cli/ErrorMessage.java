package org.nettyrdma.example.nfs.cli;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import org.nettyrdma.codec.oncrpc.RpcConnectionException;
import org.nettyrdma.codec.oncrpc.RpcTimeoutException;
import org.nettyrdma.example.nfs.client.NfsConnectException;

/** Turns a failure into one line for people, who have no use for class names. */
final class ErrorMessage {

    private ErrorMessage() {
    }

    static String of(Throwable failure) {
        return firstLine(describe(failure));
    }

    /** Says whether the reason is that the server does not answer, or no longer. */
    static boolean isUnreachable(Throwable failure) {
        return failure instanceof NfsConnectException || failure instanceof RpcConnectionException
                || failure instanceof RpcTimeoutException;
    }

    static String firstLine(String text) {
        return text.lines().findFirst().orElse("").strip();
    }

    private static String describe(Throwable failure) {
        if (failure instanceof RpcConnectionException) {
            return "the connection to the server was lost: " + failure.getMessage();
        }
        if (failure instanceof RpcTimeoutException) {
            return "the server does not answer: " + failure.getMessage();
        }
        if (failure instanceof FileSystemException localFailure) {
            return localFailure.getFile() + ": " + reason(localFailure);
        }
        boolean meantForPeople = failure instanceof IOException || failure instanceof IllegalArgumentException;
        return meantForPeople && failure.getMessage() != null ? failure.getMessage() : "unexpected failure: " + failure;
    }

    private static String reason(FileSystemException failure) {
        if (failure instanceof NoSuchFileException) {
            return "no such file or directory";
        }
        if (failure instanceof FileAlreadyExistsException) {
            return "it exists already";
        }
        if (failure instanceof AccessDeniedException) {
            return "permission denied";
        }
        if (failure instanceof NotDirectoryException) {
            return "not a directory";
        }
        if (failure instanceof DirectoryNotEmptyException) {
            return "the directory is not empty";
        }
        return failure.getReason() == null ? "the local file system failed" : failure.getReason();
    }
}
