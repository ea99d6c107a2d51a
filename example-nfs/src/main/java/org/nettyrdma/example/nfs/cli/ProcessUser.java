package org.nettyrdma.example.nfs.cli;

import com.sun.security.auth.module.UnixSystem;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * As whom this process runs. Where no list of users has that user, as in a container that was given a number, {@link UnixSystem}
 * of JDK 17 says user 0. So it is asked only where the system has no {@code /proc}.
 */
record ProcessUser(int userId, int groupId, List<Integer> groupIds) {

    private static final Path STATUS = Path.of("/proc/self/status");
    /** Behind the real number, which has no say about files. */
    private static final int EFFECTIVE = 1;

    static ProcessUser current() {
        try {
            return of(Files.readAllLines(STATUS, StandardCharsets.ISO_8859_1)); // the name of a program may be any bytes
        } catch (IOException e) {
            UnixSystem process = new UnixSystem();
            return new ProcessUser((int) process.getUid(), (int) process.getGid(),
                    Arrays.stream(process.getGroups()).mapToObj(group -> (int) group).toList());
        }
    }

    /** From the lines of proc_pid_status(5). */
    static ProcessUser of(List<String> status) {
        return new ProcessUser(numbers(status, "Uid:").get(EFFECTIVE), numbers(status, "Gid:").get(EFFECTIVE),
                numbers(status, "Groups:"));
    }

    private static List<Integer> numbers(List<String> status, String name) {
        String line = status.stream().filter(each -> each.startsWith(name)).findFirst().orElseThrow();
        return Stream.of(line.substring(name.length()).strip().split("\\s+")).filter(number -> !number.isEmpty())
                .map(Integer::parseUnsignedInt).toList();
    }

    boolean isRoot() {
        return userId == 0;
    }
}
