package org.nettyrdma.peer;

import io.netty.util.NetUtil;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.util.Arrays;

/**
 * Where a peer is, as limits by address see it: without its port, and of an IPv6 address only the first 64 bits, since whoever
 * has one address of such a network has them all (RFC 4291, section 2.5.4). Of link-local addresses, which share their first 64
 * bits on every network, all bits count.
 *
 * @param network the address with the bits that count, or what is known instead of it
 */
public record PeerAddress(Object network) {

    private static final int NETWORK_BYTES = 8;

    /**
     * The address of a peer.
     *
     * @param address of its end of the connection; {@code null} if it is not known, which is an address like any other
     * @return equal for all peers that one limit is for
     */
    public static PeerAddress of(SocketAddress address) {
        if (address instanceof InetSocketAddress known && !known.isUnresolved()) {
            return new PeerAddress(networkOf(known.getAddress()));
        }
        return new PeerAddress(String.valueOf(address));
    }

    private static InetAddress networkOf(InetAddress address) {
        if (!(address instanceof Inet6Address) || address.isLinkLocalAddress()) {
            return address;
        }
        byte[] network = address.getAddress();
        Arrays.fill(network, NETWORK_BYTES, network.length, (byte) 0);
        try {
            return InetAddress.getByAddress(network);
        } catch (UnknownHostException e) {
            throw new AssertionError(e); // thrown for a wrong length only
        }
    }

    /**
     * For people to read.
     *
     * @return the address in its short form (RFC 5952), with its zone if it is one of a link, or the network of one
     */
    @Override
    public String toString() {
        if (!(network instanceof InetAddress address)) {
            return String.valueOf(network);
        }
        boolean whole = !(address instanceof Inet6Address) || address.isLinkLocalAddress();
        String longForm = address.getHostAddress();
        int zone = longForm.indexOf('%');
        return NetUtil.toAddressString(address) + (zone < 0 ? "" : longForm.substring(zone)) + (whole ? "" : "/64");
    }
}
