package org.nettyrdma.example.nfs.client;

import io.netty.util.NetUtil;
import java.util.regex.Pattern;
import org.nettyrdma.example.nfs.Transport;

/**
 * Where an NFS server answers, and a path below its exports: {@code rdma://host[:port][/path]} or
 * {@code tcp://host[:port][/path]}, with IPv6 literals in brackets; a zone follows {@code %25} (RFC 6874) or {@code %}. The path
 * is taken as it stands: nothing in it is percent-decoded, so that file names can be typed as they are. Without a port it is
 * {@link Transport#defaultPort()}.
 *
 * @param transport what carries the calls
 * @param host name or address literal, without brackets
 * @param port port number, 1 to 65535
 * @param path absolute path with {@code /} between names, without empty names, {@code .} and {@code ..}. One that has
 *         been given with a {@code /} at its end, or with one of the latter there, ends with {@code /}: it is of a directory only
 */
public record NfsEndpoint(Transport transport, String host, int port, String path) {

    private static final int MAX_PORT = 65535;
    /** Java takes a plus sign and the digits of other scripts, too. */
    private static final Pattern NUMBER = Pattern.compile("-?[0-9]{1,9}");

    /**
     * Checks the port and the path.
     *
     * @param transport what carries the calls
     * @param host name or address literal, without brackets
     * @param port port number, 1 to 65535
     * @param path any path; it is normalised
     * @throws IllegalArgumentException if the host is empty or the port out of range
     */
    public NfsEndpoint {
        if (host.isEmpty()) {
            throw new IllegalArgumentException("the host is missing");
        }
        if (port < 1 || port > MAX_PORT) {
            throw new IllegalArgumentException("port " + port + " is not between 1 and " + MAX_PORT);
        }
        path = RemotePath.normalize(path) + (RemotePath.isOfDirectory(path) ? "/" : "");
    }

    /**
     * Parses an address.
     *
     * @param url {@code rdma://} or {@code tcp://} address
     * @return its parts
     * @throws IllegalArgumentException if {@code url} is no such address; the message names it and what is wrong
     */
    public static NfsEndpoint parse(String url) {
        try {
            int schemeEnd = url.indexOf("://");
            if (schemeEnd < 0) {
                throw new IllegalArgumentException("it must start with rdma:// or tcp://");
            }
            Transport transport = transport(url.substring(0, schemeEnd));
            String rest = url.substring(schemeEnd + 3);
            int pathStart = rest.indexOf('/');
            String authority = pathStart < 0 ? rest : rest.substring(0, pathStart);
            int hostEnd = hostEnd(authority);
            return new NfsEndpoint(transport, host(authority.substring(0, hostEnd)),
                    port(authority.substring(hostEnd), transport.defaultPort()), pathStart < 0 ? "/" : rest.substring(pathStart));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("not an NFS address: '" + url + "': " + e.getMessage(), e);
        }
    }

    /**
     * Returns the same server with another path.
     *
     * @param otherPath any path; it is normalised
     * @return the endpoint
     */
    public NfsEndpoint withPath(String otherPath) {
        return new NfsEndpoint(transport, host, port, otherPath);
    }

    /**
     * Returns the same server with the directory that holds the path; the root holds itself.
     *
     * @return the endpoint
     */
    public NfsEndpoint parent() {
        return withPath(RemotePath.parent(path));
    }

    /**
     * Returns the last name of the path.
     *
     * @return the name, empty for the root
     */
    public String name() {
        return RemotePath.name(RemotePath.normalize(path));
    }

    /**
     * Returns the address in the form that {@link #parse} takes.
     *
     * @return the address with port and path
     */
    @Override
    public String toString() {
        return transport.scheme() + "://" + (host.indexOf(':') >= 0 ? '[' + host.replace("%", "%25") + ']' : host) + ':' + port
                + path;
    }

    private static Transport transport(String scheme) {
        for (Transport transport : Transport.values()) {
            if (transport.scheme().equalsIgnoreCase(scheme)) {
                return transport;
            }
        }
        throw new IllegalArgumentException("'" + scheme + "' is neither rdma nor tcp");
    }

    private static int hostEnd(String authority) {
        if (authority.startsWith("[")) {
            int bracket = authority.indexOf(']');
            if (bracket < 0) {
                throw new IllegalArgumentException("the bracket after the IPv6 address is missing");
            }
            return bracket + 1;
        }
        int colon = authority.indexOf(':');
        if (colon != authority.lastIndexOf(':')) {
            throw new IllegalArgumentException("an IPv6 address must stand in brackets, as in rdma://[::1]:20049/");
        }
        return colon < 0 ? authority.length() : colon;
    }

    private static String host(String text) {
        if (!text.startsWith("[")) {
            return text;
        }
        // An empty zone is none (RFC 6874, section 2): %25 at the end is zone 25 behind a percent sign that is not encoded.
        String literal = text.substring(1, text.length() - 1).replaceFirst("%25(?=.)", "%");
        if (!NetUtil.isValidIpV6Address(literal)) {
            throw new IllegalArgumentException("'" + literal + "' is not an IPv6 address");
        }
        return literal;
    }

    private static int port(String text, int defaultPort) {
        if (text.isEmpty()) {
            return defaultPort;
        }
        if (!text.startsWith(":")) {
            throw new IllegalArgumentException("a colon and a port number must follow the IPv6 address, not '" + text + "'");
        }
        if (!NUMBER.matcher(text.substring(1)).matches()) {
            throw new IllegalArgumentException("'" + text.substring(1) + "' is not a port number");
        }
        return Integer.parseInt(text.substring(1));
    }
}
