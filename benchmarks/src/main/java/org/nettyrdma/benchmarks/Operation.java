package org.nettyrdma.benchmarks;

/** What a call does; for transports with ONC RPC the procedure of {@link BenchmarkProgram} that is called. */
enum Operation {
    /** Returns its argument. */
    ECHO(1),
    /** Returns as many bytes as asked for. */
    READ(2),
    /** Takes bytes and returns how many they were. */
    WRITE(3),
    /** Takes bytes and returns their CRC32C; before measuring only. */
    CHECKSUM(4);

    private final int procedure;

    Operation(int procedure) {
        this.procedure = procedure;
    }

    int procedure() {
        return procedure;
    }
}
