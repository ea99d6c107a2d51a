package org.nettyrdma.verbs.disni;

import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;

/**
 * Internet addresses in the form in which {@link NativeExtensions} passes them: the port in 2 bytes, then 4 bytes of IPv4
 * address, or 16 bytes of IPv6 address and 4 bytes of scope, all in network byte order.
 */
final class SocketAddresses {

    private static final int IPV4_BYTES = Short.BYTES + 4;
    private static final int IPV6_BYTES = Short.BYTES + 16 + Integer.BYTES;

    private SocketAddresses() {
    }

    /**
     * Writes an address.
     *
     * @throws UnknownHostException if it is no internet address or its name was not resolved
     */
    static byte[] encode(SocketAddress socketAddress) throws UnknownHostException {
        if (!(socketAddress instanceof InetSocketAddress address) || address.isUnresolved()) {
            throw new UnknownHostException("not a resolved internet address: " + socketAddress);
        }
        byte[] host = address.getAddress().getAddress();
        boolean ipv6 = address.getAddress() instanceof Inet6Address;
        ByteBuffer out = ByteBuffer.allocate(ipv6 ? IPV6_BYTES : IPV4_BYTES).putShort((short) address.getPort()).put(host);
        if (ipv6) {
            out.putInt(((Inet6Address) address.getAddress()).getScopeId());
        }
        return out.array();
    }

    /**
     * Reads an address.
     *
     * @throws IOException if {@code encoded} has neither of the two lengths
     */
    static InetSocketAddress decode(byte[] encoded) throws IOException {
        ByteBuffer in = ByteBuffer.wrap(encoded);
        if (encoded.length != IPV4_BYTES && encoded.length != IPV6_BYTES) {
            throw new IOException("an address of " + encoded.length + " bytes is neither IPv4 nor IPv6");
        }
        int port = Short.toUnsignedInt(in.getShort());
        byte[] host = new byte[encoded.length == IPV4_BYTES ? 4 : 16];
        in.get(host);
        if (host.length == 4) {
            return new InetSocketAddress(InetAddress.getByAddress(host), port);
        }
        int scope = in.getInt();
        return new InetSocketAddress(scope == 0 ? InetAddress.getByAddress(host) : Inet6Address.getByAddress(null, host, scope),
                port);
    }
}
