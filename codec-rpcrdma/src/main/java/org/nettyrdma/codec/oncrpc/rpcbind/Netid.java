package org.nettyrdma.codec.oncrpc.rpcbind;

import java.net.Inet6Address;
import java.net.InetAddress;

/**
 * The name of a transport in rpcbind (RFC 5665, section 5.1).
 *
 * @param name 1 to {@value #MAX_NAME_BYTES} printable ASCII characters without a space
 */
public record Netid(String name) {

    /** Most bytes of a name; the registered ones have at most six. */
    public static final int MAX_NAME_BYTES = 128;

    /** UDP over IPv4. */
    public static final Netid UDP = new Netid("udp");
    /** UDP over IPv6. */
    public static final Netid UDP6 = new Netid("udp6");
    /** TCP over IPv4. */
    public static final Netid TCP = new Netid("tcp");
    /** TCP over IPv6. */
    public static final Netid TCP6 = new Netid("tcp6");
    /** RPC-over-RDMA with IPv4 addresses (RFC 8166, section 5). */
    public static final Netid RDMA = new Netid("rdma");
    /** RPC-over-RDMA with IPv6 addresses (RFC 8166, section 5). */
    public static final Netid RDMA6 = new Netid("rdma6");

    /**
     * Creates a name.
     *
     * @param name 1 to {@value #MAX_NAME_BYTES} printable ASCII characters without a space
     * @throws IllegalArgumentException if it is empty, too long or has other characters
     */
    public Netid {
        if (name.isEmpty() || name.length() > MAX_NAME_BYTES || !name.chars().allMatch(c -> c > ' ' && c < 0x7f)) {
            throw new IllegalArgumentException("netid of " + name.length() + " characters (expected: 1 to " + MAX_NAME_BYTES
                    + " printable ASCII characters without a space)");
        }
    }

    /**
     * The transport that RPC-over-RDMA is for an address.
     *
     * @param address where a server answers
     * @return {@link #RDMA6} for IPv6, else {@link #RDMA}
     */
    public static Netid rdma(InetAddress address) {
        return address instanceof Inet6Address ? RDMA6 : RDMA;
    }

    /**
     * The transport that TCP is for an address.
     *
     * @param address where a server answers
     * @return {@link #TCP6} for IPv6, else {@link #TCP}
     */
    public static Netid tcp(InetAddress address) {
        return address instanceof Inet6Address ? TCP6 : TCP;
    }

    @Override
    public String toString() {
        return name;
    }
}
