package org.nettyrdma.benchmarks;

import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/** What is read off a window. */
enum Figure {
    /** Median latency. */
    P50_MICROS("p50, µs", "%.1f", false, Window::p50Micros),
    /** Latency that one call in a hundred exceeds. */
    P99_MICROS("p99, µs", "%.1f", false, Window::p99Micros),
    /** Calls answered. */
    CALLS_PER_SECOND("calls/s", "%.0f", true, Window::callsPerSecond),
    /** Payload; a gigabyte is 10^9 bytes. */
    GIGABYTES_PER_SECOND("GB/s", "%.2f", true, Window::gigabytesPerSecond),
    /** Processor time of both ends for a gigabyte of payload. */
    CPU_SECONDS_PER_GIGABYTE("CPU s/GB", "%.2f", false, Window::cpuSecondsPerGigabyte),
    /** Processor time of both ends for a call. */
    CPU_MICROS_PER_CALL("CPU µs/call", "%.1f", false, window -> window.perCall(window.counters().processor().nanos()) / 1e3),
    /** Part of that time in which the collector G1 looks through references that were stored, beside the event loops. */
    REFINEMENT("refinement threads, % of CPU", "%.1f", false, window -> 100.0
            * window.counters().processor().refinementNanos() / window.counters().processor().nanos()),
    /** Java heap allocated by the client's event loops. */
    CLIENT_ALLOCATED_PER_CALL("client, bytes allocated/call", "%.0f", false,
            window -> window.perCall(window.counters().clientAllocated())),
    /** Java heap allocated by the server's event loops. */
    SERVER_ALLOCATED_PER_CALL("server, bytes allocated/call", "%.0f", false,
            window -> window.perCall(window.counters().serverAllocated())),
    /** What was copied in user space, both ends. */
    COPIED_PER_CALL("bytes copied/call", "%.1f", false, window -> window.perCall(window.counters().copiedBytes())),
    /** Memory that the client has exposed. */
    REGISTRATIONS_PER_CALL("registrations/call", "%.2f", false, window -> window.perCall(window.counters().exposures())),
    /** Memory that replies have withdrawn. */
    REMOTE_INVALIDATIONS_PER_CALL("remote invalidations/call", "%.2f", false,
            window -> window.perCall(window.counters().remoteInvalidations())),
    /** Memory that the client has withdrawn itself. */
    LOCAL_INVALIDATIONS_PER_CALL("local invalidations/call", "%.2f", false,
            window -> window.perCall(window.counters().localInvalidations()));

    /** What growth shows of small calls. */
    static final List<Figure> SMALL_CALLS = List.of(CALLS_PER_SECOND, P99_MICROS, CPU_MICROS_PER_CALL);
    /** The same of many connections, each of which has objects of its own. */
    static final List<Figure> CONNECTIONS = List.of(CALLS_PER_SECOND, P99_MICROS, CPU_MICROS_PER_CALL, REFINEMENT);
    /** What is shown of bulk data. */
    static final List<Figure> BULK = List.of(GIGABYTES_PER_SECOND, CPU_SECONDS_PER_GIGABYTE);
    private static final List<Figure> LATENCY = List.of(P50_MICROS, P99_MICROS, CPU_MICROS_PER_CALL);
    private static final List<Figure> RATE = List.of(CALLS_PER_SECOND, CPU_MICROS_PER_CALL);

    private final String title;
    private final String format;
    private final boolean moreIsBetter;
    private final ToDoubleFunction<Window> reading;

    Figure(String title, String format, boolean moreIsBetter, ToDoubleFunction<Window> reading) {
        this.title = title;
        this.format = format;
        this.moreIsBetter = moreIsBetter;
        this.reading = reading;
    }

    String title() {
        return title;
    }

    boolean moreIsBetter() {
        return moreIsBetter;
    }

    double of(Window window) {
        return reading.applyAsDouble(window);
    }

    double[] of(List<Window> windows) {
        return windows.stream().mapToDouble(reading).toArray();
    }

    String format(double value) {
        return String.format(Locale.ROOT, format, value);
    }

    /** What a case is compared by. */
    static List<Figure> compared(Case scenario) {
        return scenario.measuresLatency() ? LATENCY : scenario.measuresBytes() ? BULK : RATE;
    }
}
