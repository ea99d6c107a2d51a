package org.nettyrdma.example.nfs.dump;

import io.netty.buffer.ByteBuf;

/** What stands before the IP packet in a captured frame; the codes are those of the registry of link-layer header types. */
enum LinkType {
    /** BSD loopback: the address family, which the version of the packet tells as well. */
    LOOPBACK(4, -1, 0, 108),
    /** Ethernet, with any number of VLAN tags. */
    ETHERNET(14, 12, 1),
    /** No header. */
    RAW_IP(0, -1, 12, 14, 101, 228, 229),
    /** Linux "cooked", version 1. */
    LINUX_COOKED(16, 14, 113),
    /** Linux "cooked", version 2. */
    LINUX_COOKED_2(20, 0, 276);

    private static final int IPV4 = 0x0800;
    private static final int IPV6 = 0x86DD;
    private static final int VLAN = 0x8100;
    private static final int SERVICE_VLAN = 0x88A8;
    private static final int VLAN_LENGTH = 4;

    private final int headerLength;
    private final int protocolOffset;
    private final int[] codes;

    /**
     * @param protocolOffset where the EtherType stands in the header, -1 if there is none
     */
    LinkType(int headerLength, int protocolOffset, int... codes) {
        this.headerLength = headerLength;
        this.protocolOffset = protocolOffset;
        this.codes = codes;
    }

    /** The type with a code of a pcap file, or {@code null}. */
    static LinkType of(int code) {
        for (LinkType type : values()) {
            for (int known : type.codes) {
                if (known == code) {
                    return type;
                }
            }
        }
        return null;
    }

    /** The IP packet in a frame, or {@code null} if there is none. */
    ByteBuf ipPacket(ByteBuf frame) {
        int start = frame.readerIndex();
        int length = headerLength;
        if (frame.readableBytes() < length) {
            return null;
        }
        if (protocolOffset >= 0) {
            int protocol = frame.getUnsignedShort(start + protocolOffset);
            while (this == ETHERNET && (protocol == VLAN || protocol == SERVICE_VLAN)
                    && frame.readableBytes() >= length + VLAN_LENGTH) {
                length += VLAN_LENGTH;
                protocol = frame.getUnsignedShort(start + length - Short.BYTES);
            }
            if (protocol != IPV4 && protocol != IPV6) {
                return null;
            }
        }
        return frame.slice(start + length, frame.readableBytes() - length);
    }
}
