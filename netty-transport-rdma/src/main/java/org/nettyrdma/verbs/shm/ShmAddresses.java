package org.nettyrdma.verbs.shm;

import io.netty.channel.unix.DomainSocketAddress;
import io.netty.util.NetUtil;
import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.UnixDomainSocketAddress;
import java.net.UnknownHostException;
import java.nio.channels.UnsupportedAddressTypeException;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The addresses that this provider takes: IP addresses of this host, which stand for a name in the shared directory, and paths of
 * sockets, as {@link DomainSocketAddress} or {@link UnixDomainSocketAddress}.
 */
final class ShmAddresses {

    private static final String ANY = "any";
    private static final int FIRST_UNPRIVILEGED_PORT = 1024;
    /** The range of Linux. */
    private static final int FIRST_EPHEMERAL_PORT = 32_768;
    private static final int LAST_EPHEMERAL_PORT = 60_999;

    private ShmAddresses() {
    }

    /** Whether an address is a path of Netty's kind. Its library need not be there: where it is not, nobody can have made one. */
    private static boolean isNettyPath(SocketAddress address) {
        return address.getClass().getName().equals("io.netty.channel.unix.DomainSocketAddress");
    }

    static boolean isPath(SocketAddress address) {
        return address instanceof UnixDomainSocketAddress || isNettyPath(address);
    }

    /**
     * The path that an address names.
     *
     * @throws SocketException if it is too long, or can be no path, such as an abstract name, which begins with a 0
     */
    static Path path(SocketAddress address) throws SocketException {
        if (address instanceof UnixDomainSocketAddress unix) {
            return ensureShort(unix.getPath());
        }
        if (isNettyPath(address)) {
            return ensureShort(Netty.path(address));
        }
        throw new UnsupportedAddressTypeException();
    }

    private static Path ensureShort(Path path) throws SocketException {
        int bytes = path.toString().getBytes(Charset.defaultCharset()).length;
        if (bytes > ShmSettings.MAX_SOCKET_PATH_BYTES) {
            throw new SocketException("the path of a socket has " + bytes + " bytes (limit: "
                    + ShmSettings.MAX_SOCKET_PATH_BYTES + "): " + path);
        }
        return path;
    }

    /** A path as an address of the same kind as another one. */
    static SocketAddress like(SocketAddress model, Path path) {
        return isNettyPath(model) ? Netty.address(path) : UnixDomainSocketAddress.of(path);
    }

    static InetSocketAddress inet(SocketAddress address) throws UnknownHostException {
        if (!(address instanceof InetSocketAddress inet)) {
            throw new UnsupportedAddressTypeException();
        }
        if (inet.isUnresolved()) {
            throw new UnknownHostException(inet.getHostString());
        }
        return inet;
    }

    /**
     * An IP address for this side.
     *
     * @throws BindException if it is not of this host, so that nobody would find it
     */
    static InetSocketAddress local(SocketAddress address) throws IOException {
        InetSocketAddress inet = inet(address);
        if (!isOfThisHost(inet.getAddress())) {
            throw new BindException("Cannot assign requested address: " + inet + " is not an address of this host");
        }
        return inet;
    }

    /** Where a connection to an address leads, as over TCP: the wildcard to the loopback address. */
    static SocketAddress reached(SocketAddress remote) throws UnknownHostException {
        if (!(remote instanceof InetSocketAddress inet) || inet.isUnresolved() || !inet.getAddress().isAnyLocalAddress()) {
            return remote;
        }
        return new InetSocketAddress(InetAddress.getByName(inet.getAddress() instanceof Inet6Address ? "::1" : "127.0.0.1"),
                inet.getPort());
    }

    /**
     * The name of an IP address in the shared directory; without its interface, which whoever connects need not name, and which
     * has another name in another network.
     */
    static String name(InetAddress address) {
        String host = address.getHostAddress();
        int scope = host.indexOf('%');
        return address.isAnyLocalAddress() ? ANY : scope < 0 ? host : host.substring(0, scope);
    }

    /**
     * The socket of whoever listens at an address.
     *
     * @throws ConnectException if nobody does, or the address is not of this host
     */
    static Path find(ProcessDirectory directory, SocketAddress remote) throws IOException {
        if (isPath(remote)) {
            return path(remote);
        }
        InetSocketAddress inet = inet(remote);
        if (!isOfThisHost(inet.getAddress())) {
            throw new ConnectException(inet + " is not an address of this host, and shared memory reaches no other");
        }
        for (String name : new String[] {name(inet.getAddress()), ANY}) {
            Path link = directory.shared().port(name, inet.getPort());
            if (Files.exists(link, LinkOption.NOFOLLOW_LINKS)) {
                return ensureShort(link);
            }
        }
        throw new ConnectException("Connection refused: nobody listens over shared memory at " + inet + " in "
                + directory.shared());
    }

    /** Whether the directory knows somebody who may be the one that listens at an address. Only he himself can tell. */
    static boolean isHinted(ProcessDirectory directory, InetSocketAddress inet) throws IOException {
        return Files.exists(directory.shared().port(name(inet.getAddress()), inet.getPort()))
                || Files.exists(directory.shared().port(ANY, inet.getPort())) && isOfThisHost(inet.getAddress());
    }

    /** The addresses by which others, also in other networks of this host, reach what listens at an address. */
    static List<InetAddress> reaching(InetAddress address) throws IOException {
        List<InetAddress> all = new ArrayList<>(List.of(address));
        if (address.isAnyLocalAddress()) {
            NetworkInterface.networkInterfaces().flatMap(NetworkInterface::inetAddresses)
                    .filter(each -> !each.isLoopbackAddress()).forEach(all::add);
        }
        return all;
    }

    private static boolean isOfThisHost(InetAddress address) throws IOException {
        return address.isLoopbackAddress() || address.isAnyLocalAddress() || NetworkInterface.getByInetAddress(address) != null;
    }

    /** What a side tells the other about its own address. */
    static byte[] toBytes(SocketAddress address) {
        return address instanceof InetSocketAddress inet ? inet.getAddress().getAddress() : new byte[0];
    }

    /** What the asking side tells the other about the address that it has asked. */
    static String toText(SocketAddress address) {
        return address instanceof InetSocketAddress inet ? inet.getAddress().getHostAddress() : "";
    }

    /**
     * The answering side's address: that of its listener, or where this has all addresses of the host the one that was asked.
     * What the asking side says of that counts only where it is an address of this host, so that it could have asked there over
     * TCP.
     *
     * @param listening where the listener is
     * @param text      what the asking side says to be the address that it has asked
     */
    static SocketAddress asked(SocketAddress listening, String text) throws IOException {
        byte[] claimed = NetUtil.createByteArrayFromIpAddressString(text); // which looks up no names
        if (claimed == null || !(listening instanceof InetSocketAddress inet) || !inet.getAddress().isAnyLocalAddress()) {
            return listening;
        }
        InetAddress asked = InetAddress.getByAddress(claimed);
        return isOfThisHost(asked) && !asked.isAnyLocalAddress() ? new InetSocketAddress(asked, inet.getPort()) : listening;
    }

    /** A port for whoever has named none; somebody may have it. */
    static int ephemeralPort() {
        return ThreadLocalRandom.current().nextInt(FIRST_EPHEMERAL_PORT, LAST_EPHEMERAL_PORT + 1);
    }

    static int port(SocketAddress address) {
        return address instanceof InetSocketAddress inet ? inet.getPort() : -1;
    }

    /**
     * The asking side's address, of the same kind as the address that it has asked. What it says itself counts only where any
     * process of this host could have it over TCP, too: an address of this host, and no port below 1024. Otherwise it has the
     * loopback address, and a port by chance. A path is that of its control file.
     *
     * @param asked       where it has found the listener
     * @param controlFile of the asking side
     * @param bytes       what it says to be its IP address
     * @param port        what it says to be its port
     * @throws ShmProtocolException if it does not say an address
     */
    static SocketAddress ofPeer(SocketAddress asked, Path controlFile, byte[] bytes, int port) throws IOException {
        if (!(asked instanceof InetSocketAddress)) {
            return like(asked, controlFile);
        }
        InetAddress claimed;
        try {
            claimed = InetAddress.getByAddress(bytes);
        } catch (UnknownHostException e) {
            throw new ShmProtocolException(EndReason.FAILED, "setup frame: address of %d bytes, port %d", bytes.length, port);
        }
        boolean possible = isOfThisHost(claimed) && !claimed.isAnyLocalAddress();
        return new InetSocketAddress(possible ? claimed : InetAddress.getLoopbackAddress(),
                port >= FIRST_UNPRIVILEGED_PORT ? port : ephemeralPort());
    }

    /** Loaded only where Netty's library for such addresses is. */
    private static final class Netty {

        static Path path(SocketAddress address) throws SocketException {
            try {
                return Path.of(((DomainSocketAddress) address).path());
            } catch (InvalidPathException e) {
                throw (SocketException) new SocketException("not the path of a socket: " + e.getReason()
                        + "; abstract names are not supported").initCause(e);
            }
        }

        static SocketAddress address(Path path) {
            return new DomainSocketAddress(path.toString());
        }
    }
}
