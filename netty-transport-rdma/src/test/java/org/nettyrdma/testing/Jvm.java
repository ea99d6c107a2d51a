package org.nettyrdma.testing;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Starts a JVM of its own for what a test cannot do in the one that runs it. */
public final class Jvm {

    private Jvm() {
    }

    /**
     * The command that runs a main method with the class path of this JVM, and with the compilers and the collector that this
     * one was given: most such processes are over before better ones pay.
     *
     * @param options these come last; {@code -XX:+UseSerialGC} may be among them, but no other collector
     */
    public static List<String> command(List<String> options, Class<?> program, String... arguments) {
        List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(argument -> argument.matches("-XX:(TieredStopAtLevel=.*|\\+UseSerialGC)")).forEach(command::add);
        command.addAll(options);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), program.getName()));
        command.addAll(List.of(arguments));
        return command;
    }
}
