package org.nettyrdma.example.nfs.dump;

import java.io.IOException;
import java.io.InputStream;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Shows the iWARP connections of a capture in classic pcap format, one line for each message: the time of its last packet in
 * UTC, its direction, and what it says. Used by one thread.
 */
public final class CaptureDump {

    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss.SSSSSSSSS").withZone(ZoneOffset.UTC);

    private final boolean all;
    private final Consumer<String> lines;
    private final MessageText messages = new MessageText();
    private final Map<Direction, TcpStream> streams = new HashMap<>();
    private final Map<Direction, Connection> connections = new HashMap<>();
    private final List<IwarpStream> iwarpStreams = new ArrayList<>();
    private String time = "";

    private record Direction(String source, String destination) {

        Direction reversed() {
            return new Direction(destination, source);
        }

        @Override
        public String toString() {
            return source + " > " + destination;
        }
    }

    /** What both directions of a connection have in common. */
    private static final class Connection {
        private boolean usesCrc;
    }

    /**
     * Creates an empty dump.
     *
     * @param all   whether to show RDMA Reads, RDMA Writes and Terminates too
     * @param lines gets each line
     */
    public CaptureDump(boolean all, Consumer<String> lines) {
        this.all = all;
        this.lines = lines;
    }

    /**
     * Shows a whole capture. Damage in packets is shown as a line, and the rest goes on.
     *
     * @param capture the file, which the caller closes
     * @throws IOException if it cannot be read, or is damaged so that nothing behind can be read, or is in another format, or
     *                     has nothing of iWARP in it; what stands before the damage was shown
     */
    public void show(InputStream capture) throws IOException {
        PcapReader reader = PcapReader.open(capture);
        long packets = 0;
        long segments = 0;
        try {
            for (PcapReader.Packet packet = reader.next(); packet != null; packet = reader.next()) {
                packets++;
                TcpSegment segment = packet.ip() == null ? null : TcpSegment.ofIp(packet.ip(), packet.cutBytes());
                if (segment != null) {
                    segments++;
                    time = TIME.format(Instant.ofEpochSecond(packet.seconds(), packet.nanos()));
                    stream(new Direction(segment.source(), segment.destination())).accept(segment);
                }
            }
        } finally {
            streams.values().forEach(TcpStream::finish);
        }
        if (iwarpStreams.stream().noneMatch(IwarpStream::everRecognized)) {
            throw new IOException("nothing of iWARP is in this capture of " + packets + " packets, " + segments
                    + " of them TCP; over loopback it takes tcpdump -i lo");
        }
    }

    private TcpStream stream(Direction direction) {
        return streams.computeIfAbsent(direction, key -> {
            Connection connection = connections.computeIfAbsent(key, first -> new Connection());
            connections.put(key.reversed(), connection);
            IwarpText text = new IwarpText(() -> connection.usesCrc = true, messages, all,
                    line -> lines.accept(time + ' ' + key + ' ' + line));
            IwarpStream iwarp = new IwarpStream(text, () -> connection.usesCrc);
            iwarpStreams.add(iwarp);
            return new TcpStream(iwarp);
        });
    }
}
