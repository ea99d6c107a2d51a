package org.nettyrdma.example.nfs.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.nettyrdma.example.nfs.protocol.NameText;

/** The arguments of the process with all their bytes, of which Java keeps those that the locale's character set knows. */
final class CommandArguments {

    private static final Path COMMAND_LINE = Path.of("/proc/self/cmdline");

    private CommandArguments() {
    }

    /** Returns the arguments as {@link NameText} has them, or those of {@code main} where the system does not tell. */
    static String[] ofProcess(String[] arguments) {
        try {
            return of(Files.readAllBytes(COMMAND_LINE), arguments);
        } catch (IOException e) {
            return arguments;
        }
    }

    /** {@code commandLine} has a zero byte behind each argument; those of {@code main} are its last ones. */
    static String[] of(byte[] commandLine, String[] arguments) {
        List<String> all = new ArrayList<>();
        int start = 0;
        for (int i = 0; i < commandLine.length; i++) {
            if (commandLine[i] == 0) {
                all.add(NameText.decode(Arrays.copyOfRange(commandLine, start, i)));
                start = i + 1;
            }
        }
        return all.size() < arguments.length ? arguments
                : all.subList(all.size() - arguments.length, all.size()).toArray(String[]::new);
    }
}
