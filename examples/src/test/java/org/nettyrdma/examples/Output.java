package org.nettyrdma.examples;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** What a program prints while it runs in this JVM, so that leaked buffers are found. */
public final class Output {

    private Output() {
    }

    /** A {@code main}. */
    @FunctionalInterface
    public interface Program {

        /** Runs it to its end. */
        void main(String[] arguments) throws Exception;
    }

    /** Runs a program; returns its lines on standard output. */
    public static List<String> of(Program program, String... arguments) throws Exception {
        PrintStream earlier = System.out;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
        try {
            program.main(arguments);
        } finally {
            System.setOut(earlier);
        }
        return printed.toString(StandardCharsets.UTF_8).lines().toList();
    }
}
