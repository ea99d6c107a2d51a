package org.nettyrdma.benchmarks;

/** Where the two ends of a peer run. */
enum Placement {
    /** Each on a thread of its own in one process. */
    ONE_PROCESS("one process"),
    /** Each in a process of its own. */
    TWO_PROCESSES("two processes"),
    /** Each on a thread of its own in one process that may use one CPU only. */
    ONE_CPU("one CPU");

    private final String title;

    Placement(String title) {
        this.title = title;
    }

    String title() {
        return title;
    }
}
