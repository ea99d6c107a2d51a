package org.nettyrdma.example.nfs.cli;

import java.io.BufferedInputStream;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.nettyrdma.example.nfs.dump.CaptureDump;
import org.nettyrdma.example.nfs.dump.HexText;
import org.nettyrdma.example.nfs.dump.MessageText;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** {@code nfs dump}. */
@Command(name = "dump",
        description = "Shows RPC-over-RDMA messages of versions 1 and 2, one line each, from a capture of iWARP or from their "
                + "bytes. A segment is shown as handle:length@offset, handle and offset in hexadecimal.",
        footerHeading = "%nExamples:%n",
        footer = {"  nfs dump capture.pcap          every MPA frame and every Send",
            "  nfs dump --all capture.pcap    RDMA Reads and Writes too",
            "  nfs dump 0000002a 00000001 00000020 00000000 ...",
            "  nfs dump - < messages.txt      one message of hexadecimal digits a line",
            "",
            "A capture of what goes over loopback:",
            "  tcpdump -i lo -w capture.pcap port 20049",
            "Of a capture in pcapng format make one that can be read:",
            "  editcap -F pcap capture.pcapng capture.pcap"})
final class DumpCommand implements Callable<Integer> {

    private static final String STANDARD_INPUT = "-";
    private static final int MAX_MESSAGE_BYTES = 256 << 10; // the longest Send that RFC 8797 can announce
    private static final int MAX_LINE_CHARACTERS = 4 * MAX_MESSAGE_BYTES;

    @Spec
    private CommandSpec spec;

    @Option(names = "--all", description = "Of a capture, show RDMA Reads, RDMA Writes and Terminates too.")
    private boolean all;

    @Parameters(paramLabel = "FILE.pcap|HEX", arity = "1..*",
            description = "A capture in pcap format; or the bytes of one message in hexadecimal digits, of which several "
                    + "arguments are joined; or - for messages on standard input.")
    private List<String> arguments;

    @Override
    public Integer call() throws IOException {
        if (arguments.equals(List.of(STANDARD_INPUT))) {
            showLines(System.in);
        } else if (arguments.size() == 1 && isFile(arguments.get(0))) {
            showCapture(new PathConverter().convert(arguments.get(0)));
        } else {
            showMessage(String.join("", arguments));
        }
        out().flush();
        return ExitCode.OK;
    }

    private static boolean isFile(String argument) {
        try {
            return Files.isRegularFile(new PathConverter().convert(argument));
        } catch (TypeConversionException e) {
            return false;
        }
    }

    /** Also text that says what is wrong with the input has some of it. */
    private void show(String line) {
        out().println(TerminalText.escape(line));
    }

    private void showCapture(Path file) throws IOException {
        try (InputStream in = new BufferedInputStream(Files.newInputStream(file))) {
            new CaptureDump(all, this::show).show(in);
        } finally {
            out().flush();
        }
    }

    private void showMessage(String digits) {
        try {
            show(new MessageText().describe(HexText.parse(digits)));
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), "neither a file nor hexadecimal digits: " + e.getMessage());
        }
    }

    private void showLines(InputStream in) throws IOException {
        MessageText messages = new MessageText();
        BufferedReader reader = new BufferedReader(new InputStreamReader(in, StandardCharsets.US_ASCII));
        int number = 1;
        for (String line = readLine(reader, number); line != null; line = readLine(reader, number)) {
            if (!line.isBlank()) {
                show(describe(messages, line, number));
            }
            number++;
        }
    }

    /** Unlike a reader's own method this ends where a line does not. */
    private String readLine(Reader in, int number) throws IOException {
        StringBuilder line = new StringBuilder();
        int next = in.read();
        if (next < 0) {
            return null;
        }
        for (; next >= 0 && next != '\n'; next = in.read()) {
            if (line.length() == MAX_LINE_CHARACTERS) {
                out().flush();
                throw new IOException("line " + number + " is longer than " + MAX_LINE_CHARACTERS
                        + " characters, the digits of the longest message and a space between any two");
            }
            line.append((char) next);
        }
        return line.toString();
    }

    private static String describe(MessageText messages, String line, int number) {
        try {
            return messages.describe(HexText.parse(line));
        } catch (IllegalArgumentException e) {
            return "malformed line " + number + ": " + e.getMessage();
        }
    }

    private PrintWriter out() {
        return spec.commandLine().getOut();
    }
}
