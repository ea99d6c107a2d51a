package org.nettyrdma.benchmarks;

import java.util.Locale;
import java.util.stream.Stream;

/**
 * What is compared: a load, and where the two ends run.
 */
enum Case {
    /** One 64-byte call after the other: latency. */
    PING_PONG("64-byte ping-pong", new Load(Operation.ECHO, 64, 1)),
    /** Many small calls at once: rate. */
    CALLS_32("64-byte calls, 32 outstanding", new Load(Operation.ECHO, 64, 32)),
    /** Large results. */
    READ_1M("1 MiB READ, 8 outstanding", new Load(Operation.READ, 1 << 20, 8)),
    /** Large arguments. */
    WRITE_1M("1 MiB WRITE, 8 outstanding", new Load(Operation.WRITE, 1 << 20, 8)),
    /** Results of a middling size. */
    READ_64K("64 KiB READ, 8 outstanding", new Load(Operation.READ, 1 << 16, 8)),
    /** Arguments of a middling size. */
    WRITE_64K("64 KiB WRITE, 8 outstanding", new Load(Operation.WRITE, 1 << 16, 8)),
    /** Results of the size of a block of many file systems. */
    READ_16K("16 KiB READ, 8 outstanding", new Load(Operation.READ, 1 << 14, 8)),
    /** Arguments of that size. */
    WRITE_16K("16 KiB WRITE, 8 outstanding", new Load(Operation.WRITE, 1 << 14, 8)),
    /** Results of a page. */
    READ_4K("4 KiB READ, 8 outstanding", new Load(Operation.READ, 1 << 12, 8)),
    /** Arguments of a page. */
    WRITE_4K("4 KiB WRITE, 8 outstanding", new Load(Operation.WRITE, 1 << 12, 8)),
    /** Frames of a middling size both ways, of byte streams only: ONC RPC has other ways. With gRPC, messages of streams. */
    ECHO_64K("64 KiB echo, 8 outstanding", new Load(Operation.ECHO, 1 << 16, 8)),
    /** Large frames, likewise. */
    ECHO_1M("1 MiB echo, 8 outstanding", new Load(Operation.ECHO, 1 << 20, 8));

    private final String title;
    private final Load load;

    Case(String title, Load load) {
        this.title = title;
        this.load = load;
    }

    /** The case with a name, in any case, with hyphens or underscores. */
    static Case named(String name) {
        return valueOf(constant(name));
    }

    /** Whether there is a case of a name. */
    static boolean isNamed(String name) {
        return Stream.of(values()).anyMatch(scenario -> scenario.name().equals(constant(name)));
    }

    private static String constant(String name) {
        return name.toUpperCase(Locale.ROOT).replace('-', '_');
    }

    /** The name on the command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    String title() {
        return title;
    }

    Load load() {
        return load;
    }

    boolean measuresLatency() {
        return load.outstanding() == 1;
    }

    /** Whether only the peers without RPC have it. */
    boolean isStreamOnly() {
        return this == ECHO_64K || this == ECHO_1M;
    }

    boolean measuresBytes() {
        return load.bulk();
    }
}
