package org.nettyrdma.codec.oncrpc.rpcbind;

import static java.util.Objects.requireNonNull;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.codec.oncrpc.XdrException;

/**
 * Where one version of a program answers on one transport ({@code rpcb}, RFC 1833, section 2.1).
 *
 * @param program number of the program
 * @param version version of the program, an unsigned 32-bit number
 * @param netid   the transport
 * @param address where it answers there, as the transport writes addresses; for UDP, TCP and RDMA this is a
 *                {@link UniversalAddress}. At most {@value #MAX_STRING_BYTES} bytes as UTF-8
 * @param owner   who may take the registration back, as rpcbind calls users. rpcbind ignores the owner that a server sends, and
 *                asks the system. At most {@value #MAX_STRING_BYTES} bytes as UTF-8
 */
public record RpcbindEntry(int program, int version, Netid netid, String address, String owner) {

    /** Most bytes of an address or an owner. The protocol has no limit. */
    public static final int MAX_STRING_BYTES = 255;

    /** Fewest bytes on the wire: two numbers and three strings of which one has a character. */
    private static final int MIN_ENCODED_BYTES = 6 * Integer.BYTES;

    /**
     * Creates an entry.
     *
     * @param program number of the program
     * @param version version of the program
     * @param netid   the transport
     * @param address where it answers
     * @param owner   who may take the registration back
     * @throws IllegalArgumentException if the address or the owner is too long
     */
    public RpcbindEntry {
        requireNonNull(netid, "netid");
        checkLength(address, "address");
        checkLength(owner, "owner");
    }

    /**
     * Creates an entry to register.
     *
     * @param program number of the program
     * @param version version of the program
     * @param netid   one of the constants of {@link Netid}
     * @param address where it answers; the unspecified address says on all addresses of the machine
     * @throws IllegalArgumentException if the transport is for the other version of IP
     */
    public RpcbindEntry(int program, int version, Netid netid, UniversalAddress address) {
        this(program, version, netid, address.toString(), "");
        if (netid.name().endsWith("6") != address.isIpv6()) {
            throw new IllegalArgumentException("address: " + address + " (expected: an address for netid " + netid + ')');
        }
    }

    /**
     * The address as IP address and port.
     *
     * @return the address
     * @throws IllegalArgumentException if the transport writes its addresses in another way
     */
    public UniversalAddress universalAddress() {
        return UniversalAddress.parse(address);
    }

    /** Reads an entry; a failure leaves it undefined where the reader index stands. */
    static RpcbindEntry read(ByteBuf in) {
        if (in.readableBytes() < MIN_ENCODED_BYTES) {
            throw new XdrException("rpcbind entry needs " + MIN_ENCODED_BYTES + " bytes, " + in.readableBytes() + " are left");
        }
        int program = Xdr.readInt(in, "rpcbind program");
        int version = Xdr.readInt(in, "rpcbind version");
        Netid netid = readNetid(in);
        String address = Xdr.readString(in, MAX_STRING_BYTES, "rpcbind address");
        return new RpcbindEntry(program, version, netid, address, Xdr.readString(in, MAX_STRING_BYTES, "rpcbind owner"));
    }

    private static Netid readNetid(ByteBuf in) {
        String name = Xdr.readString(in, Netid.MAX_NAME_BYTES, "rpcbind netid");
        try {
            return new Netid(name);
        } catch (IllegalArgumentException e) {
            throw new XdrException("rpcbind " + e.getMessage());
        }
    }

    void write(ByteBuf out) {
        write(out, program, version, netid.name(), address, owner);
    }

    /** Arguments are always a whole entry; where a procedure needs less, fields are empty. */
    static void write(ByteBuf out, int program, int version, String netid, String address, String owner) {
        Xdr.writeInt(out, program);
        Xdr.writeInt(out, version);
        Xdr.writeString(out, netid);
        Xdr.writeString(out, address);
        Xdr.writeString(out, owner);
    }

    private static void checkLength(String text, String field) {
        int bytes = text.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > MAX_STRING_BYTES) {
            throw new IllegalArgumentException(field + " is " + bytes + " bytes long, limit " + MAX_STRING_BYTES);
        }
    }
}
