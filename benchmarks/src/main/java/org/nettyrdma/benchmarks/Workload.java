package org.nettyrdma.benchmarks;

/**
 * What is measured: a kind of call, how many bytes it moves, and how many of them are outstanding at once.
 */
enum Workload {
    /** One 64-byte call after the other: latency. */
    PING_PONG("64-byte ping-pong", Operation.ECHO, 64, 1),
    /** Many small calls at once: rate. */
    CALLS_32("64-byte calls, 32 outstanding", Operation.ECHO, 64, 32),
    /** Large results. */
    READ_1M("1 MiB READ, 8 outstanding", Operation.READ, 1 << 20, 8),
    /** Large arguments. */
    WRITE_1M("1 MiB WRITE, 8 outstanding", Operation.WRITE, 1 << 20, 8),
    /** Results of a middling size. */
    READ_64K("64 KiB READ, 8 outstanding", Operation.READ, 1 << 16, 8),
    /** Arguments of a middling size. */
    WRITE_64K("64 KiB WRITE, 8 outstanding", Operation.WRITE, 1 << 16, 8);

    /** The procedure of {@link BenchmarkProgram} that is called. */
    enum Operation {
        /** Returns its argument. */
        ECHO,
        /** Returns as many bytes as asked for. */
        READ,
        /** Takes bytes and returns how many they were. */
        WRITE
    }

    private final String title;
    private final Operation operation;
    private final int payloadBytes;
    private final int outstanding;

    Workload(String title, Operation operation, int payloadBytes, int outstanding) {
        this.title = title;
        this.operation = operation;
        this.payloadBytes = payloadBytes;
        this.outstanding = outstanding;
    }

    String title() {
        return title;
    }

    Operation operation() {
        return operation;
    }

    int payloadBytes() {
        return payloadBytes;
    }

    int outstanding() {
        return outstanding;
    }

    boolean measuresLatency() {
        return outstanding == 1;
    }

    boolean measuresBytes() {
        return operation != Operation.ECHO;
    }
}
