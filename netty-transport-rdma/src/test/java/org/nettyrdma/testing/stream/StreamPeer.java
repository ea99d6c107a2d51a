package org.nettyrdma.testing.stream;

import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * The other end of programs in C that use rsockets, or sockets under {@code librspreload.so}:
 * <pre>
 * serve ADDRESS PORT BYTES SIZE...    three servers at PORT and the two that follow: rstream, one SIZE for each connection;
 *                                     an exchange of BYTES both ways; HTTP. PORT 0 lets the system choose all
 * rstream ADDRESS PORT SIZE...        a client of "rstream" for each SIZE
 * exchange ADDRESS PORT BYTES LEAST   sends BYTES, and takes what the peer sends, at least so many bytes
 * </pre>
 * A SIZE is {@code BYTES:TRANSFERS:ITERATIONS}, the options -S, -C and -I of rstream; with {@code :u} at its end nobody looks at
 * the bytes, as without its option -T v. Standard output has a line for each
 * connection. Exit status 0 if all that the program started passed. With {@code -Dstream.tcp=true} all goes over TCP.
 * {@code -Dstream.idleStrategy=BUSY_POLL} lets the event loop never sleep.
 */
public final class StreamPeer {

    private final StreamServers servers;
    private final StreamClients clients;

    private StreamPeer(StreamTransport transport) {
        servers = new StreamServers(transport, System.out::println);
        clients = new StreamClients(transport);
    }

    /**
     * Runs one of the commands.
     *
     * @param arguments the command and what it needs
     * @throws Exception if anything fails
     */
    public static void main(String[] arguments) throws Exception {
        StreamTransport transport = Boolean.getBoolean("stream.tcp") ? StreamTransport.tcp() : StreamTransport.rdma();
        StreamPeer peer = new StreamPeer(transport);
        InetSocketAddress address = StreamServers.address(arguments[1], Integer.parseInt(arguments[2]));
        List<String> rest = Arrays.asList(arguments).subList(3, arguments.length);
        switch (arguments[0]) {
            case "serve" -> peer.serve(address, Long.parseLong(rest.get(0)), sizes(rest.subList(1, rest.size())));
            case "rstream" -> peer.rstream(address, sizes(rest));
            case "exchange" -> System.out.println("exchange passed "
                    + peer.clients.exchange(address, Long.parseLong(rest.get(0)), Long.parseLong(rest.get(1))));
            default -> throw new IllegalArgumentException("command: " + arguments[0]);
        }
        transport.loops().shutdownGracefully().await(); // what is still on its way goes out
    }

    private static List<TransferSize> sizes(List<String> texts) {
        return texts.stream().map(TransferSize::parse).toList();
    }

    private void serve(InetSocketAddress address, long bytes, List<TransferSize> sizes) throws Exception {
        int rstream = servers.rstream(address, sizes).getPort();
        int exchange = servers.exchange(next(address, 1), bytes).getPort();
        int http = servers.http(next(address, 2)).getPort();
        System.out.println("serving " + rstream + ' ' + exchange + ' ' + http);
        Thread.currentThread().join(); // until it is killed
    }

    private static InetSocketAddress next(InetSocketAddress address, int distance) {
        return new InetSocketAddress(address.getAddress(), address.getPort() == 0 ? 0 : address.getPort() + distance);
    }

    private void rstream(InetSocketAddress address, List<TransferSize> sizes) throws Exception {
        for (TransferSize size : sizes) {
            long nanos = clients.rstream(address, size);
            long transfers = 2L * size.transfers() * size.iterations();
            System.out.printf(Locale.ROOT, "rstream %s passed %.2f us/xfer %.3f Gb/sec%n", size, nanos / 1e3 / transfers,
                    8.0 * size.bytes() * transfers / nanos);
        }
    }
}
