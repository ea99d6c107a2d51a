package org.nettyrdma.codec.oncrpc.rpcbind;

import static io.netty.util.internal.ObjectUtil.checkInRange;
import static java.util.Objects.requireNonNull;

import io.netty.util.NetUtil;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;

/**
 * An IP address with a port in the form that rpcbind keeps, which is the same for UDP, TCP and RDMA: {@code 192.0.2.7.78.81}
 * for IPv4 and {@code 2001:db8::7.78.81} for IPv6 (RFC 5665, sections 5.2.3.3 and 5.2.3.4). The last two numbers are the
 * upper and the lower byte of the port.
 *
 * @param address the IP address; the scope of an IPv6 address is not part of the text
 * @param port    0 to 65535
 */
public record UniversalAddress(InetAddress address, int port) {

    /** Most characters of the text: an IPv6 address that ends in an IPv4 address, and the port. */
    public static final int MAX_TEXT_LENGTH = 45 + 8;

    private static final int MAX_PORT = 0xffff;
    private static final int IPV4_BYTES = 4;

    /**
     * Creates an address.
     *
     * @param address the IP address
     * @param port    0 to 65535
     * @throws IllegalArgumentException if the port is out of range
     */
    public UniversalAddress {
        requireNonNull(address, "address");
        checkInRange(port, 0, MAX_PORT, "port");
    }

    /**
     * Creates an address.
     *
     * @param socketAddress an address that is resolved
     * @return the same address
     * @throws IllegalArgumentException if it is not resolved
     */
    public static UniversalAddress of(InetSocketAddress socketAddress) {
        if (socketAddress.isUnresolved()) {
            throw new IllegalArgumentException("address: " + socketAddress + " (expected: resolved)");
        }
        return new UniversalAddress(socketAddress.getAddress(), socketAddress.getPort());
    }

    /**
     * Parses an address. No name is looked up. Every number is decimal without leading zeros; IPv6 addresses have no scope and
     * no brackets.
     *
     * @param text text form
     * @return the address
     * @throws IllegalArgumentException if it is no such text; the message names it, unless it is too long
     */
    public static UniversalAddress parse(String text) {
        if (text.length() > MAX_TEXT_LENGTH) {
            throw new IllegalArgumentException("universal address of " + text.length() + " characters, limit " + MAX_TEXT_LENGTH);
        }
        int low = text.lastIndexOf('.');
        int high = text.lastIndexOf('.', low - 1);
        if (low < 0 || high < 0) {
            throw notAnAddress(text);
        }
        int port = octet(text, high + 1, low) << Byte.SIZE | octet(text, low + 1, text.length());
        String host = text.substring(0, high);
        return new UniversalAddress(host.indexOf(':') < 0 ? ipv4(text, host) : ipv6(text, host), port);
    }

    private static InetAddress ipv4(String text, String host) {
        byte[] bytes = new byte[IPV4_BYTES];
        int start = 0;
        for (int i = 0; i < IPV4_BYTES; i++) {
            int dot = host.indexOf('.', start);
            boolean last = i == IPV4_BYTES - 1;
            if (dot < 0 != last) {
                throw notAnAddress(text);
            }
            bytes[i] = (byte) octet(text, start, last ? host.length() : dot);
            start = dot + 1;
        }
        try {
            return InetAddress.getByAddress(bytes);
        } catch (UnknownHostException e) {
            throw new IllegalStateException(host, e); // only for a wrong number of bytes
        }
    }

    private static InetAddress ipv6(String text, String host) {
        if (host.indexOf('%') >= 0 || host.indexOf('[') >= 0 || !NetUtil.isValidIpV6Address(host)) {
            throw notAnAddress(text);
        }
        try {
            // Not the general factory, which makes an IPv4 address of one that is mapped into IPv6.
            return Inet6Address.getByAddress(null, NetUtil.createByteArrayFromIpAddressString(host), -1);
        } catch (UnknownHostException e) {
            throw new IllegalStateException(host, e); // only for a wrong number of bytes
        }
    }

    private static int octet(String text, int start, int end) {
        int length = end - start;
        if (length < 1 || length > 3 || length > 1 && text.charAt(start) == '0') {
            throw notAnAddress(text);
        }
        int value = 0;
        for (int i = start; i < end; i++) {
            int digit = text.charAt(i) - '0';
            if (digit < 0 || digit > 9) {
                throw notAnAddress(text);
            }
            value = value * 10 + digit;
        }
        if (value > 0xff) {
            throw notAnAddress(text);
        }
        return value;
    }

    private static IllegalArgumentException notAnAddress(String text) {
        return new IllegalArgumentException("universal address: '" + text
                + "' (expected: an IPv4 or IPv6 address and the two bytes of the port, as in 192.0.2.7.78.81)");
    }

    /**
     * Whether this is an IPv6 address, and so one of {@code udp6}, {@code tcp6} or {@code rdma6}.
     *
     * @return {@code false} for IPv4
     */
    public boolean isIpv6() {
        return address instanceof Inet6Address;
    }

    /**
     * The address for a socket.
     *
     * @return a resolved address
     */
    public InetSocketAddress toSocketAddress() {
        return new InetSocketAddress(address, port);
    }

    /**
     * The text form, which {@link #parse} takes.
     *
     * @return at most {@value #MAX_TEXT_LENGTH} ASCII characters
     */
    @Override
    public String toString() {
        String host = NetUtil.toAddressString(address);
        int scope = host.indexOf('%');
        return (scope < 0 ? host : host.substring(0, scope)) + '.' + (port >>> Byte.SIZE) + '.' + (port & 0xff);
    }
}
