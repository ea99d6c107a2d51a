package org.nettyrdma.example.nfs.dump;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Writes captures in pcap format: one connection between a client, port 1000, and a server, port 2000. */
final class CaptureFile {

    static final int SYN = 0x02;
    static final int ACK = 0x10;

    private final ByteBuf file = Unpooled.buffer();
    private final boolean littleEndian;
    private final int linkType;
    private final boolean ipv6;
    private int seconds = 86_399;
    private boolean lengths = true;

    CaptureFile() {
        this(0xA1B2C3D4, true, 1, false);
    }

    CaptureFile(int magic, boolean littleEndian, int linkType, boolean ipv6) {
        this.littleEndian = littleEndian;
        this.linkType = linkType;
        this.ipv6 = ipv6;
        words(magic, littleEndian ? 0x0004_0002 : 0x0002_0004, 0, 0, 262_144, linkType);
    }

    /** From here on no IP packet says how long it is. */
    CaptureFile withoutLengths() {
        lengths = false;
        return this;
    }

    /** Appends a packet without data. */
    CaptureFile syn(boolean client, int sequence) {
        return packet(client, sequence, SYN, Unpooled.EMPTY_BUFFER, 0);
    }

    CaptureFile data(boolean client, int sequence, ByteBuf payload) {
        return packet(client, sequence, ACK, payload, 0);
    }

    CaptureFile packet(boolean client, int sequence, int flags, ByteBuf payload, int cutBytes) {
        ByteBuf packet = Unpooled.buffer();
        link(packet);
        int tcpLength = 20 + payload.readableBytes();
        if (ipv6) {
            packet.writeInt(0x6000_0000).writeShort(lengths ? tcpLength + 8 : 0).writeByte(0).writeByte(64); // hop-by-hop options
            packet.writeZero(15).writeByte(client ? 1 : 2).writeZero(15).writeByte(client ? 2 : 1);
            packet.writeByte(6).writeByte(0).writeZero(6);
        } else {
            packet.writeByte(0x45).writeByte(0).writeShort(lengths ? 20 + tcpLength : 0).writeInt(0x4000).writeByte(64)
                    .writeByte(6).writeShort(0);
            packet.writeInt(client ? 0x0A00_0001 : 0x0A00_0002).writeInt(client ? 0x0A00_0002 : 0x0A00_0001);
        }
        packet.writeShort(client ? 1000 : 2000).writeShort(client ? 2000 : 1000).writeInt(sequence).writeInt(0);
        packet.writeByte(0x50).writeByte(flags).writeShort(0xFFFF).writeInt(0);
        packet.writeBytes(payload, payload.readerIndex(), payload.readableBytes());
        int whole = packet.readableBytes();
        words(seconds++, 7, whole - cutBytes, whole);
        file.writeBytes(packet, whole - cutBytes);
        return this;
    }

    private void link(ByteBuf packet) {
        int protocol = ipv6 ? 0x86DD : 0x0800;
        switch (linkType) {
            case 0 -> packet.writeIntLE(ipv6 ? 30 : 2);
            case 1 -> packet.writeZero(12).writeInt(0x8100_0005).writeShort(protocol); // with a VLAN tag
            case 113 -> packet.writeZero(14).writeShort(protocol);
            case 276 -> packet.writeShort(protocol).writeZero(18);
            default -> { }
        }
    }

    private void words(int... words) {
        for (int word : words) {
            if (littleEndian) {
                file.writeIntLE(word);
            } else {
                file.writeInt(word);
            }
        }
    }

    byte[] bytes() {
        return ByteBufUtil.getBytes(file);
    }

    /**
     * A frame of the exchange with a Linux server.
     *
     * @param client whether the client sent it
     * @param bytes  the frame
     */
    record Frame(boolean client, ByteBuf bytes) {
    }

    /** All frames of the exchange with a Linux server, in their order. */
    static List<Frame> linuxServer() throws IOException {
        List<Frame> frames = new ArrayList<>();
        try (InputStream in = CaptureFile.class.getResourceAsStream("/captures/linux-server.txt")) {
            for (String line : new String(in.readAllBytes(), StandardCharsets.US_ASCII).lines().toList()) {
                if (!line.startsWith("#")) {
                    frames.add(new Frame(line.startsWith(">"), HexText.parse(line.substring(2))));
                }
            }
        }
        return frames;
    }
}
