package org.nettyrdma.example.nfs.dump;

import io.netty.buffer.ByteBuf;
import java.util.Map;
import java.util.TreeMap;

/**
 * Puts the bytes of one direction of a TCP connection in order: drops what was sent again, holds what came early, and goes on
 * behind a gap when too much has come early. Used by one thread.
 */
final class TcpStream {

    /** Early segments that are held; more means that the capture has lost what is missing. */
    private static final int MAX_EARLY_SEGMENTS = 1024;
    private static final int MAX_EARLY_BYTES = 4 << 20;

    private final Receiver receiver;
    /** By the position of their first byte. The packets that they are views of are nobody else's. */
    private final TreeMap<Long, TcpSegment> early = new TreeMap<>();
    private int earlyBytes;
    private boolean started;
    private int nextSequence;
    private long position;

    /** Who gets the bytes. */
    interface Receiver {

        /** The connection is opened: the next byte is its first. */
        void opened();

        /** The next bytes in order; one call for each segment. */
        void bytes(ByteBuf bytes);

        /** Bytes that are not in the capture. */
        void gap(long missingBytes);
    }

    TcpStream(Receiver receiver) {
        this.receiver = receiver;
    }

    void accept(TcpSegment segment) {
        if (segment.isSyn()) {
            open(segment.sequence() + 1);
            return;
        }
        if (!segment.payload().isReadable() && segment.missingBytes() == 0) {
            return;
        }
        if (!started) { // the capture began later than the connection
            started = true;
            nextSequence = segment.sequence();
        }
        int distance = segment.sequence() - nextSequence; // sequence numbers wrap around
        if (distance <= 0) {
            deliver(segment, -distance);
        } else {
            hold(position + distance, segment);
        }
        deliverEarly();
        if (early.size() > MAX_EARLY_SEGMENTS || earlyBytes > MAX_EARLY_BYTES) {
            skipToEarly();
        }
    }

    /** The capture is over: what is missing will not come any more. */
    void finish() {
        while (!early.isEmpty()) {
            skipToEarly();
        }
    }

    private void open(int firstSequence) {
        if (started && position == 0 && firstSequence == nextSequence) {
            return; // the SYN was sent again
        }
        finish();
        started = true;
        nextSequence = firstSequence;
        position = 0;
        receiver.opened();
    }

    private void hold(long at, TcpSegment segment) {
        TcpSegment held = early.get(at);
        if (held == null || held.payload().readableBytes() < segment.payload().readableBytes()) {
            earlyBytes += segment.payload().readableBytes() - (held == null ? 0 : held.payload().readableBytes());
            early.put(at, segment);
        }
    }

    private void deliverEarly() {
        while (!early.isEmpty() && early.firstKey() <= position) {
            Map.Entry<Long, TcpSegment> first = early.pollFirstEntry();
            earlyBytes -= first.getValue().payload().readableBytes();
            deliver(first.getValue(), position - first.getKey());
        }
    }

    private void skipToEarly() {
        long missing = early.firstKey() - position;
        advance(missing);
        receiver.gap(missing);
        deliverEarly();
    }

    /** Passes on what is new of a segment whose first {@code known} bytes have been passed on already. */
    private void deliver(TcpSegment segment, long known) {
        ByteBuf payload = segment.payload();
        int fresh = (int) Math.max(0, payload.readableBytes() - known);
        if (fresh > 0) {
            advance(fresh);
            receiver.bytes(payload.slice(payload.writerIndex() - fresh, fresh));
        }
        long cut = payload.readableBytes() + segment.missingBytes() - Math.max(known, payload.readableBytes());
        if (cut > 0) {
            advance(cut);
            receiver.gap(cut);
        }
    }

    private void advance(long bytes) {
        position += bytes;
        nextSequence += (int) bytes;
    }
}
