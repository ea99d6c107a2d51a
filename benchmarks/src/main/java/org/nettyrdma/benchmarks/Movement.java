package org.nettyrdma.benchmarks;

/**
 * Whether the calls of a peer since its start have moved the bytes that their loads say, by the way they were to go. A figure for
 * bulk data that took the inline path would be one of something else. Not thread safe.
 */
final class Movement {

    /** Less than this may also go inline. */
    private final int inlineThresholdBytes;

    private long expectedWrittenBytes;
    private long expectedReadBytes;
    /** Whether there was data that may have gone either way; then nothing can be said. */
    private boolean small;

    Movement(int inlineThresholdBytes) {
        this.inlineThresholdBytes = inlineThresholdBytes;
    }

    /** Adds calls that were answered. */
    void add(Load load, long calls) {
        if (load.payloadBytes() < inlineThresholdBytes) {
            small |= load.bulk();
            return;
        }
        switch (load.operation()) {
            case ECHO -> { }
            case READ -> expectedWrittenBytes += calls * load.payloadBytes();
            case WRITE, CHECKSUM -> expectedReadBytes += calls * load.payloadBytes();
        }
    }

    /** The server counts a transfer when its completion is polled, which can be after the client has got the reply. */
    boolean lagsBehind(Counters counters) {
        return counters.movementKnown() && !small
                && (counters.writtenBytes() < expectedWrittenBytes || counters.readBytes() < expectedReadBytes);
    }

    /**
     * Checks what was counted since the start; peers that count nothing are known by the content of their replies only.
     *
     * @throws IllegalStateException if it is not what the loads say
     */
    void check(Peer peer, Counters counters) {
        if (counters.movementKnown() && !small
                && (counters.writtenBytes() != expectedWrittenBytes || counters.readBytes() != expectedReadBytes)) {
            throw new IllegalStateException(peer + " was to write " + expectedWrittenBytes + " and to read " + expectedReadBytes
                    + " bytes by RDMA, and has moved " + counters);
        }
    }
}
