package org.nettyrdma.example.nfs.cli;

import io.netty.handler.codec.TooLongFrameException;
import java.io.IOException;
import java.nio.file.FileSystemException;
import org.nettyrdma.channel.Rdma;
import org.nettyrdma.codec.oncrpc.RpcConnectionException;
import org.nettyrdma.codec.oncrpc.RpcTimeoutException;
import org.nettyrdma.example.nfs.client.LocalFailures;
import org.nettyrdma.example.nfs.client.NfsConnectException;

/** Turns a failure into one line for people, who have no use for class names. */
final class ErrorMessage {

    private ErrorMessage() {
    }

    /** Says whether the reason is that the server does not answer, or no longer. */
    private static boolean isUnreachable(Throwable failure) {
        return failure instanceof NfsConnectException || failure instanceof RpcConnectionException
                || failure instanceof RpcTimeoutException;
    }

    static int exitCode(Throwable failure) {
        return isUnreachable(failure) ? ExitCode.UNREACHABLE : ExitCode.FAILED;
    }

    static String firstLine(String text) {
        return text.lines().findFirst().orElse("").strip();
    }

    static String of(Throwable failure) {
        if (failure instanceof RpcConnectionException) {
            return "the connection to the server was lost: " + failure.getMessage();
        }
        if (failure instanceof RpcTimeoutException && failure.getCause() instanceof RpcConnectionException last
                && !(last.getCause() instanceof TooLongFrameException)) { // which is why this side has ended it
            // So the client's last attempt to connect has ended. Over TCP a server has no other way to refuse a connection.
            return "the server does not answer: it takes connections and ends them without an answer, as it does when it has too "
                    + "many (nfs serve --max-connections, --max-connections-per-address)";
        }
        if (failure instanceof RpcTimeoutException) {
            return "the server does not answer: " + failure.getMessage();
        }
        if (failure instanceof FileSystemException localFailure) {
            return (localFailure.getFile() == null ? "" : localFailure.getFile() + ": ") + LocalFailures.reason(localFailure);
        }
        if (failure instanceof IllegalStateException && failure.getCause() != null) {
            Throwable cause = failure.getCause();
            if (cause instanceof IOException || cause instanceof IllegalArgumentException) {
                return of(cause); // Netty's event loop groups hide why the provider cannot be opened
            }
            if (cause == Rdma.unavailabilityCause()) {
                return cause.getMessage();
            }
        }
        if (failure instanceof OutOfMemoryError) {
            return "out of memory: " + failure.getMessage(); // or of threads, and then it says so
        }
        String message = failure.getMessage();
        if (message == null || !(failure instanceof IOException || failure instanceof IllegalArgumentException)) {
            return "unexpected failure: " + failure;
        }
        boolean isComplete = !(failure.getCause() instanceof FileSystemException cause) || message.contains(cause.toString())
                || message.contains(LocalFailures.reason(cause));
        return isComplete ? message : message + ": " + of(failure.getCause());
    }
}
