package org.nettyrdma.example.nfs.dump;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.io.InputStream;

/**
 * Reads a capture in the classic pcap format, packet by packet, in either byte order.
 * <pre>{@code
 * file     magic (4) | version (4) | 8 bytes | snapshot length (4) | link type (4)
 * packet   seconds (4) | fraction (4) | captured bytes (4) | bytes of the packet (4) | captured bytes ...
 * }</pre>
 */
final class PcapReader {

    /** Far more than the 262144 bytes to which libpcap cuts packets. */
    private static final int MAX_CAPTURED_BYTES = 1 << 20;
    private static final int MICROSECONDS = 0xA1B2_C3D4;
    private static final int NANOSECONDS = 0xA1B2_3C4D;
    private static final int PCAPNG = 0x0A0D_0D0A;
    private static final int FILE_HEADER_LENGTH = 24;
    private static final int PACKET_HEADER_LENGTH = 16;
    private static final int LINK_TYPE_MASK = 0xFFFF; // above it stands the length of a checksum
    private static final int NANOS_PER_MICRO = 1000;

    private final InputStream in;
    private final boolean littleEndian;
    private final boolean nanoseconds;
    private final LinkType linkType;
    private long packets;
    private long position = FILE_HEADER_LENGTH;

    private PcapReader(InputStream in, boolean littleEndian, boolean nanoseconds, LinkType linkType) {
        this.in = in;
        this.littleEndian = littleEndian;
        this.nanoseconds = nanoseconds;
        this.linkType = linkType;
    }

    /**
     * One packet.
     *
     * @param seconds  when it was captured, in seconds since 1970
     * @param nanos    and nanoseconds
     * @param ip       the IP packet in it, {@code null} if there is none
     * @param cutBytes how many bytes at the end were not captured, as the file says, or 1 MiB if that is less
     */
    record Packet(long seconds, int nanos, ByteBuf ip, int cutBytes) {
    }

    /**
     * Reads the header of a file.
     *
     * @throws IOException if the file cannot be read or is of another format; the message is for people
     */
    static PcapReader open(InputStream in) throws IOException {
        ByteBuf header = Unpooled.wrappedBuffer(in.readNBytes(FILE_HEADER_LENGTH));
        if (header.readableBytes() >= Integer.BYTES && header.getInt(0) == PCAPNG) {
            throw new IOException("a capture in pcapng format; convert it first: editcap -F pcap IN OUT");
        }
        if (header.readableBytes() < FILE_HEADER_LENGTH) {
            throw new IOException("not a capture in pcap format: " + header.readableBytes() + " bytes, its header has "
                    + FILE_HEADER_LENGTH);
        }
        boolean littleEndian = isMagic(header.getIntLE(0));
        if (!littleEndian && !isMagic(header.getInt(0))) {
            throw new IOException(String.format("not a capture in pcap format: it begins with %08x", header.getInt(0)));
        }
        int magic = littleEndian ? header.getIntLE(0) : header.getInt(0);
        int code = (littleEndian ? header.getIntLE(20) : header.getInt(20)) & LINK_TYPE_MASK;
        LinkType linkType = LinkType.of(code);
        if (linkType == null) {
            throw new IOException("a capture with link type " + code
                    + " (known: Ethernet 1, Linux cooked 113 and 276, raw IP 101, loopback 0 and 108)");
        }
        return new PcapReader(in, littleEndian, magic == NANOSECONDS, linkType);
    }

    private static boolean isMagic(int magic) {
        return magic == MICROSECONDS || magic == NANOSECONDS;
    }

    /**
     * Reads the next packet; returns {@code null} at the end.
     *
     * @throws IOException if the file cannot be read, or is damaged so that nothing behind this place can be read
     */
    Packet next() throws IOException {
        ByteBuf header = Unpooled.wrappedBuffer(in.readNBytes(PACKET_HEADER_LENGTH));
        if (!header.isReadable()) {
            return null;
        }
        packets++;
        if (header.readableBytes() < PACKET_HEADER_LENGTH) {
            throw damaged("the file ends within its header");
        }
        long fraction = readUnsignedInt(header, 4);
        long captured = readUnsignedInt(header, 8);
        long whole = readUnsignedInt(header, 12);
        if (captured > MAX_CAPTURED_BYTES) {
            throw damaged(captured + " captured bytes (limit " + MAX_CAPTURED_BYTES + ")");
        }
        byte[] bytes = in.readNBytes((int) captured);
        if (bytes.length < captured) {
            throw damaged("the file ends after " + bytes.length + " of " + captured + " bytes");
        }
        position += PACKET_HEADER_LENGTH + captured;
        long nanos = nanoseconds ? fraction : fraction * NANOS_PER_MICRO;
        return new Packet(readUnsignedInt(header, 0), (int) (nanos % 1_000_000_000),
                linkType.ipPacket(Unpooled.wrappedBuffer(bytes)),
                (int) Math.min(MAX_CAPTURED_BYTES, Math.max(0, whole - captured)));
    }

    private long readUnsignedInt(ByteBuf header, int offset) {
        return littleEndian ? header.getUnsignedIntLE(offset) : header.getUnsignedInt(offset);
    }

    private IOException damaged(String what) {
        return new IOException("damaged capture: packet " + packets + " at byte " + position + ": " + what);
    }
}
