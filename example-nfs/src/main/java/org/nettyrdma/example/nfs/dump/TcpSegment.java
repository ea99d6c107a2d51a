package org.nettyrdma.example.nfs.dump;

import io.netty.buffer.ByteBuf;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.UnknownHostException;

/**
 * One TCP segment of a capture.
 *
 * @param source       address and port of the sender
 * @param destination  address and port of the receiver
 * @param sequence     number of the first byte of the payload (RFC 9293, section 3.4), or of the SYN
 * @param isSyn        whether it opens a connection
 * @param payload      what was captured of the data, a view of the packet
 * @param missingBytes how much more data the packet had than was captured
 */
record TcpSegment(String source, String destination, int sequence, boolean isSyn, ByteBuf payload, int missingBytes) {

    private static final int TCP = 6;
    private static final int HOP_BY_HOP = 0;
    private static final int ROUTING = 43;
    private static final int DESTINATION_OPTIONS = 60;
    private static final int IPV4_HEADER_LENGTH = 20;
    private static final int IPV6_HEADER_LENGTH = 40;
    private static final int TCP_HEADER_LENGTH = 20;
    private static final int FRAGMENT_MASK = 0x3FFF;
    private static final int SYN = 0x02;
    private static final int WORD_LENGTH = 4;
    private static final int EXTENSION_UNIT = 8;

    /**
     * Reads an IP packet.
     *
     * @param cutBytes how many bytes at its end were not captured, for packets that do not tell how long they are
     * @return {@code null} if it is no TCP segment, a fragment, or captured without all its headers
     */
    static TcpSegment ofIp(ByteBuf packet, int cutBytes) {
        if (!packet.isReadable()) {
            return null;
        }
        return switch (packet.getUnsignedByte(packet.readerIndex()) >> 4) {
            case 4 -> ofIpv4(packet, cutBytes);
            case 6 -> ofIpv6(packet, cutBytes);
            default -> null;
        };
    }

    private static TcpSegment ofIpv4(ByteBuf packet, int cutBytes) {
        int start = packet.readerIndex();
        if (packet.readableBytes() < IPV4_HEADER_LENGTH) {
            return null;
        }
        int headerLength = (packet.getByte(start) & 0x0F) * WORD_LENGTH;
        boolean fragment = (packet.getUnsignedShort(start + 6) & FRAGMENT_MASK) != 0;
        if (packet.getUnsignedByte(start + 9) != TCP || fragment || headerLength < IPV4_HEADER_LENGTH) {
            return null;
        }
        int length = packet.getUnsignedShort(start + 2); // 0 if the network card was to cut it into pieces
        return ofTcp(packet, headerLength, length == 0 ? packet.readableBytes() + cutBytes : length, start + 12, 4);
    }

    private static TcpSegment ofIpv6(ByteBuf packet, int cutBytes) {
        int start = packet.readerIndex();
        if (packet.readableBytes() < IPV6_HEADER_LENGTH) {
            return null;
        }
        int payloadLength = packet.getUnsignedShort(start + 4);
        int next = packet.getUnsignedByte(start + 6);
        int offset = IPV6_HEADER_LENGTH;
        while (next == HOP_BY_HOP || next == ROUTING || next == DESTINATION_OPTIONS) {
            if (packet.readableBytes() < offset + 2) {
                return null;
            }
            next = packet.getUnsignedByte(start + offset);
            offset += (packet.getUnsignedByte(start + offset + 1) + 1) * EXTENSION_UNIT;
        }
        int length = payloadLength == 0 ? packet.readableBytes() + cutBytes : IPV6_HEADER_LENGTH + payloadLength;
        return next == TCP ? ofTcp(packet, offset, length, start + 8, 16) : null;
    }

    private static TcpSegment ofTcp(ByteBuf packet, int offset, int length, int addresses, int addressLength) {
        int tcp = packet.readerIndex() + offset;
        if (packet.readableBytes() < offset + TCP_HEADER_LENGTH) {
            return null;
        }
        int dataOffset = offset + (packet.getUnsignedByte(tcp + 12) >> 4) * WORD_LENGTH;
        if (dataOffset < offset + TCP_HEADER_LENGTH || dataOffset > length || dataOffset > packet.readableBytes()) {
            return null;
        }
        int captured = Math.min(length, packet.readableBytes()) - dataOffset; // short frames are padded behind the packet
        return new TcpSegment(address(packet, addresses, addressLength, packet.getUnsignedShort(tcp)),
                address(packet, addresses + addressLength, addressLength, packet.getUnsignedShort(tcp + 2)),
                packet.getInt(tcp + 4), (packet.getByte(tcp + 13) & SYN) != 0,
                packet.slice(packet.readerIndex() + dataOffset, captured), length - dataOffset - captured);
    }

    private static String address(ByteBuf packet, int offset, int length, int port) {
        byte[] address = new byte[length];
        packet.getBytes(offset, address);
        try {
            String text = NetUtil.toAddressString(InetAddress.getByAddress(address));
            return (text.indexOf(':') < 0 ? text : '[' + text + ']') + ':' + port;
        } catch (UnknownHostException e) {
            throw new AssertionError("addresses have 4 or 16 bytes", e);
        }
    }
}
