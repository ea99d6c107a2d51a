package org.nettyrdma.verbs.shm;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import org.nettyrdma.verbs.support.SocketFailures;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A listening domain socket. One for an IP address is in this process's own directory, and a link with the address as its name
 * leads there: the link of a process that has died is seen to be stale, and removed. One for a path is at that path.
 */
final class BoundSocket {

    private static final Logger LOGGER = LoggerFactory.getLogger(BoundSocket.class);

    static final char KIND = 's';

    private static final int MAX_TRIES = 1000;

    private final ServerSocketChannel channel;
    private final SocketAddress address;
    private final Path socket;
    private final Object key;
    private final List<Path> links;

    private BoundSocket(ServerSocketChannel channel, SocketAddress address, Path socket, List<Path> links) {
        this.channel = channel;
        this.address = address;
        this.socket = socket;
        key = keyOf(socket);
        this.links = links;
    }

    /**
     * Listens.
     *
     * @throws BindException if somebody listens there, or it is an address of another host
     */
    static BoundSocket bind(ProcessDirectory directory, SocketAddress address, int backlog) throws IOException {
        if (ShmAddresses.isPath(address)) {
            Path path = ShmAddresses.path(address);
            return new BoundSocket(listenInTurn(directory, path, backlog), address, path, List.of());
        }
        InetSocketAddress inet = ShmAddresses.local(address);
        Path socket = directory.file(KIND, directory.newNumber());
        ServerSocketChannel channel = listen(socket, backlog);
        try {
            directory.share(socket);
            int port = link(directory, inet, socket);
            return new BoundSocket(channel, new InetSocketAddress(inet.getAddress(), port), socket,
                    List.of(directory.shared().port(ShmAddresses.name(inet.getAddress()), port)));
        } catch (Throwable t) {
            channel.close();
            Files.deleteIfExists(socket);
            throw t;
        }
    }

    /**
     * Listens for those who know the number by other means. Names of the address only tell others that they may ask for it; a
     * name that somebody has, perhaps in another network, is left to him.
     *
     * @param inet   where this process listens over TCP
     * @param number of the file
     */
    static BoundSocket bindBeside(ProcessDirectory directory, InetSocketAddress inet, int number, int backlog)
            throws IOException {
        Path socket = directory.file(KIND, number);
        BoundSocket bound = new BoundSocket(listen(socket, backlog), inet, socket, new ArrayList<>());
        try {
            directory.share(socket);
            for (InetAddress each : ShmAddresses.reaching(inet.getAddress())) {
                Path link = directory.shared().port(ShmAddresses.name(each), inet.getPort());
                if (bound.links.contains(link)) {
                    continue; // the same address on another interface
                }
                if (tryLink(directory, each, inet.getPort(), socket)) {
                    bound.links.add(link);
                } else {
                    LOGGER.info("{} port {} is another process's name in {}", each, inet.getPort(), directory.shared());
                }
            }
            return bound;
        } catch (Throwable t) {
            bound.close();
            throw t;
        }
    }

    /** What another server is just making looks like what one that was killed has left, until that server listens. */
    private static ServerSocketChannel listenInTurn(ProcessDirectory directory, Path path, int backlog) throws IOException {
        try {
            return directory.shared().underLock(() -> {
                removeStale(path);
                return listen(path, backlog);
            });
        } catch (IOException e) {
            if (Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
                throw e;
            }
            return listen(path, backlog); // another user may hold the lock for ever, and there is nothing to replace
        }
    }

    private static ServerSocketChannel listen(Path path, int backlog) throws IOException {
        ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        try {
            channel.bind(UnixDomainSocketAddress.of(path), backlog);
            return channel;
        } catch (SocketException e) {
            channel.close();
            throw (BindException) new BindException(path + ": " + e.getMessage()).initCause(e);
        } catch (Throwable t) {
            channel.close();
            throw t;
        }
    }

    /** The socket of a process that was killed stays behind, and nobody listens to it. */
    private static void removeStale(Path path) throws IOException {
        if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS) || !UnixFile.at(path).isSocket()) {
            return; // to connect to a file of another kind is refused as well
        }
        try (SocketChannel probe = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            probe.configureBlocking(false);
            probe.connect(UnixDomainSocketAddress.of(path));
        } catch (ConnectException e) {
            LOGGER.debug("{}: nobody listens ({}), so it is replaced", path, e.getMessage());
            Files.deleteIfExists(path);
        } catch (IOException e) {
            LOGGER.debug("{} is left alone: {}", path, e.toString());
        }
    }

    private static int link(ProcessDirectory directory, InetSocketAddress inet, Path socket) throws IOException {
        InetAddress host = inet.getAddress();
        if (inet.getPort() != 0) {
            if (!tryLink(directory, host, inet.getPort(), socket)) {
                throw new BindException("Address already in use: " + inet + " by "
                        + directory.shared().port(ShmAddresses.name(host), inet.getPort()));
            }
            return inet.getPort();
        }
        for (int i = 0; i < MAX_TRIES; i++) {
            int port = ShmAddresses.ephemeralPort();
            if (tryLink(directory, host, port, socket)) {
                return port;
            }
        }
        throw new BindException("no free port for " + host + " in " + directory.shared());
    }

    private static boolean tryLink(ProcessDirectory directory, InetAddress host, int port, Path socket) throws IOException {
        Path link = directory.shared().port(ShmAddresses.name(host), port);
        Path target = directory.shared().path().relativize(socket);
        try {
            Files.createSymbolicLink(link, target);
            return true;
        } catch (FileAlreadyExistsException e) {
            directory.shared().removeDead(); // who has made it may have died
        }
        try {
            Files.createSymbolicLink(link, target);
            return true;
        } catch (FileAlreadyExistsException e) {
            return false;
        }
    }

    ServerSocketChannel channel() {
        return channel;
    }

    /** Where it listens, with the port that was chosen. */
    SocketAddress address() {
        return address;
    }

    /**
     * Removes its names, unless they have become those of another process; first, as who finds a name that leads to nobody
     * takes it.
     */
    void close() {
        if (!channel.isOpen()) {
            return;
        }
        try {
            for (Path link : links) {
                if (leadsHere(link)) {
                    Files.deleteIfExists(link);
                }
            }
            if (key != null && key.equals(keyOf(socket))) {
                Files.deleteIfExists(socket);
            }
        } catch (IOException e) {
            LOGGER.warn("{} could not be removed: {}", socket, e.toString());
        } finally {
            SocketFailures.closeQuietly(channel);
        }
    }

    /** It does not where the end of the JVM has removed the socket, and another process listens at the address by now. */
    private boolean leadsHere(Path link) {
        try {
            return link.resolveSibling(Files.readSymbolicLink(link)).equals(socket);
        } catch (IOException e) {
            return false;
        }
    }

    /** Tells the file at a path from another one that is put there, {@code null} if there is none. */
    private static Object keyOf(Path path) {
        try {
            return Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS).fileKey();
        } catch (IOException e) {
            return null;
        }
    }
}
