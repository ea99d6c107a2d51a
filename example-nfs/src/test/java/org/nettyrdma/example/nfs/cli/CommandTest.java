package org.nettyrdma.example.nfs.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.nettyrdma.example.nfs.TestServer;
import picocli.CommandLine;

/** Commands in this process, with a server and a directory for their files. */
abstract class CommandTest {

    @TempDir
    Path local;

    TestServer server;
    /** What the last command wrote. */
    String out;
    String err;

    @BeforeEach
    void startServer() throws IOException {
        server = TestServer.start();
    }

    @AfterEach
    void stopServer() throws IOException {
        server.close();
    }

    /** Runs a command to its end, and returns its exit code. */
    int run(String... arguments) {
        StringWriter outText = new StringWriter();
        StringWriter errText = new StringWriter();
        CommandLine commandLine = NfsCommand.newCommandLine().setOut(new PrintWriter(outText)).setErr(new PrintWriter(errText));
        int exitCode = commandLine.execute(arguments);
        out = outText.toString();
        err = errText.toString();
        return exitCode;
    }
}
