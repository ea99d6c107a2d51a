package org.nettyrdma.example.nfs.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.Unpooled;
import io.netty.handler.codec.TooLongFrameException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.channels.ClosedChannelException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import org.junit.jupiter.api.Test;
import org.nettyrdma.codec.oncrpc.RpcConnectionException;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.RpcTimeoutException;
import org.nettyrdma.example.nfs.client.LocalFailures;
import picocli.CommandLine;
import picocli.CommandLine.Command;

class ErrorMessageTest {

    private final RpcRequest request = new RpcRequest(100003, 3, 1, Unpooled.EMPTY_BUFFER);

    @Test
    void shouldNameTheLimitWhereTheServerEndsEachConnectionWithoutAnAnswer() {
        IOException ping = new RpcConnectionException(request, "connection lost", true, new ClosedChannelException());
        assertEquals("the server does not answer: it takes connections and ends them without an answer, as it does when "
                + "it has too many (nfs serve --max-connections, --max-connections-per-address)",
                ErrorMessage.of(new RpcTimeoutException(request, 2000, ping)));
    }

    @Test
    void shouldNameTheLimitOfARecordThatIsTooLong() {
        IOException ping = new RpcConnectionException(request, "connection lost", true,
                new TooLongFrameException("RPC record of at least 9 bytes, limit 8"));
        String text = ErrorMessage.of(new RpcTimeoutException(request, 2000, ping));
        assertTrue(text.endsWith("RPC record of at least 9 bytes, limit 8"), text);
    }

    @Test
    void shouldSayWhatElseKeptACallWaiting() {
        RpcTimeoutException failure = new RpcTimeoutException(request, 2000, new IOException("refused"));
        assertEquals("the server does not answer: " + failure.getMessage(), ErrorMessage.of(failure));
    }

    @Test
    void shouldSayWhyAProviderCannotBeOpened() {
        var cause = new AccessDeniedException("/dev/shm/shared/lock");
        assertEquals("/dev/shm/shared/lock: " + LocalFailures.reason(cause),
                ErrorMessage.of(new IllegalStateException("failed to create a child event loop", cause)));
        assertEquals("maxRegisteredBytes : -1 (expected: >= 0)", ErrorMessage.of(new IllegalStateException("failed to create a "
                + "child event loop", new IllegalArgumentException("maxRegisteredBytes : -1 (expected: >= 0)"))));
    }

    @Test
    void shouldSayOnceWhyALocalFileCannotBeUsed() {
        var denied = new AccessDeniedException("/state");
        assertEquals("the directory cannot be used: /state: permission denied",
                ErrorMessage.of(new IOException("the directory cannot be used", denied)));
        assertEquals("the copy failed: " + denied, ErrorMessage.of(new IOException("the copy failed: " + denied, denied)));
        var full = new FileSystemException("standard output", null, "No space left on device");
        assertEquals("it is: No space left on device", ErrorMessage.of(new IOException("it is: No space left on device", full)));
    }

    /** Picocli shows errors to no handler. */
    @Test
    void shouldSayInOneLineThatMemoryOrThreadsAreUsedUp() {
        StringWriter err = new StringWriter();
        CommandLine commandLine = NfsCommand.newCommandLine().addSubcommand("exhaust", new Exhausting())
                .setErr(new PrintWriter(err, true));
        assertEquals(ExitCode.FAILED, commandLine.execute("exhaust"));
        assertEquals("nfs exhaust: out of memory: unable to create native thread" + System.lineSeparator(), err.toString());
    }

    @Command
    private static final class Exhausting implements Runnable {

        @Override
        public void run() {
            throw new OutOfMemoryError("unable to create native thread");
        }
    }
}
