package org.nettyrdma.verbs.shm;

import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.nettyrdma.verbs.support.SocketConnectionRequest;
import org.nettyrdma.verbs.support.SocketFailures;
import org.nettyrdma.verbs.support.SocketHandler;
import org.nettyrdma.verbs.support.TimerQueue;

/**
 * The socket of a connection: sets it up, carries wake-ups, and tells the end of the peer.
 *
 * <p>The asking side makes its control file and sends its name. The answering side maps it, makes its own, and sends that one's
 * name. Then the asking side maps that and sends a byte. Each removes the name of its file when it knows that the other has it
 * mapped.
 */
final class Setup implements SocketHandler {

    /** As long as Linux tries to connect over TCP. Users of channels mostly wait for less, see CONNECT_TIMEOUT_MILLIS. */
    private static final int REPLY_TIMEOUT_MILLIS = 120_000;
    /** While the backlog of the listener is full: the system does not tell when there is room. Doubled with each attempt. */
    private static final int FIRST_RETRY_MILLIS = 2;
    /** So rarely that a thousand connections that wait leave the event loop most of its time. */
    private static final int LAST_RETRY_MILLIS = 128;
    /** What the JDK says where the system speaks English. Elsewhere such an attempt ends with its time limit. */
    private static final String OTHER_KIND_OF_SOCKET = "Protocol wrong type for socket";

    private final ShmLoopParts parts;
    private final ShmQueuePair queuePair;
    /** What this side answers, or {@code null} if it asks. */
    private final ShmConnectionRequest request;
    private final int inboundReadDepth;
    private final int outboundReadDepth;

    private SocketChannel channel;
    private SocketAddress localAddress;
    private SocketAddress remoteAddress;
    private Path remotePath;
    private PeerUser listener;
    private SetupFrame frame;
    private SetupFrameReader replyReader;
    private OwnControl own;
    private TimerQueue.Timer timer;
    private TimerQueue.Timer retry;
    private int retryMillis = FIRST_RETRY_MILLIS;
    private boolean stands;
    private boolean closed;

    /**
     * @param inboundReadDepth  what this side lets be outstanding
     * @param outboundReadDepth what it would like to have outstanding
     */
    Setup(ShmLoopParts parts, ShmQueuePair queuePair, ShmConnectionRequest request, int inboundReadDepth,
          int outboundReadDepth) {
        this.parts = parts;
        this.queuePair = queuePair;
        this.request = request;
        this.inboundReadDepth = inboundReadDepth;
        this.outboundReadDepth = outboundReadDepth;
        if (request != null) {
            channel = request.channel();
            localAddress = request.localAddress();
            remoteAddress = request.remoteAddress();
        }
    }

    boolean isAnswer() {
        return request != null;
    }

    SocketAddress localAddress() {
        return localAddress;
    }

    SocketAddress remoteAddress() {
        return remoteAddress;
    }

    /** What a side that asks waits for. */
    String awaited() {
        return channel == null ? "the backlog of the listener on this host is full"
                : "no answer came from the listener on this host: the server accepts no connections";
    }

    // ---- Asking

    /**
     * @param socket where to find the listener
     * @param remote what the user calls it
     */
    void connect(Path socket, SocketAddress remote, SocketAddress local, byte[] privateData) throws IOException {
        remotePath = socket;
        OwnControl control = new OwnControl(parts.directory());
        try {
            SocketAddress address = chooseLocal(remote, local, control);
            frame = new SetupFrame(SetupFrame.Kind.REQUEST, parts.directory().instance(), control.number(), inboundReadDepth,
                    outboundReadDepth, ShmAddresses.toBytes(address), ShmAddresses.port(address), ShmAddresses.toText(remote),
                    privateData);
            own = control;
            remoteAddress = remote;
            tryConnect();
            localAddress = address;
        } catch (Throwable t) {
            own = null;
            control.close();
            throw t;
        }
        timer = parts.timers().schedule(REPLY_TIMEOUT_MILLIS, () -> queuePair.failed(
                new SocketTimeoutException("no answer from " + remote + " within " + REPLY_TIMEOUT_MILLIS + " ms")));
    }

    /** There is no port in truth; what is told is unique enough to tell connections apart in logs. */
    private SocketAddress chooseLocal(SocketAddress remote, SocketAddress local, OwnControl control) throws IOException {
        if (!(remote instanceof InetSocketAddress inet)) {
            return ShmAddresses.like(remote, parts.directory().file(OwnControl.KIND, control.number()));
        }
        InetSocketAddress wanted = local == null ? null : ShmAddresses.local(local);
        InetAddress host = wanted != null && !wanted.getAddress().isAnyLocalAddress() ? wanted.getAddress() : inet.getAddress();
        return new InetSocketAddress(host, wanted != null && wanted.getPort() != 0 ? wanted.getPort()
                : ShmAddresses.ephemeralPort());
    }

    private void tryConnect() throws IOException {
        SocketChannel attempt = SocketChannel.open(StandardProtocolFamily.UNIX);
        try {
            attempt.configureBlocking(false);
            if (!connect(attempt)) {
                attempt.close();
                retry = parts.timers().schedule(retryMillis, this::retryConnect);
                retryMillis = Math.min(2 * retryMillis, LAST_RETRY_MILLIS);
                return;
            }
            listener = PeerUser.of(attempt, parts.settings(), parts.directory(), "may not be connected to");
            channel = attempt;
            parts.sockets().register(channel, SelectionKey.OP_READ, this);
            send(frame);
        } catch (Throwable t) {
            SocketFailures.closeQuietly(attempt);
            throw t;
        }
        replyReader = new SetupFrameReader();
    }

    /**
     * {@code false} if the backlog is full: nothing else is known that keeps this side from connecting. The JDK tells of a full
     * one by an exception that only its text tells from others, in the language of the system.
     */
    private boolean connect(SocketChannel attempt) throws IOException {
        try {
            return attempt.connect(UnixDomainSocketAddress.of(remotePath));
        } catch (ConnectException e) {
            throw e;
        } catch (IOException e) {
            if (Files.isWritable(remotePath) && !OTHER_KIND_OF_SOCKET.equals(e.getMessage())) {
                return false;
            }
            throw (ConnectException) new ConnectException(remoteAddress + ": " + e.getMessage()).initCause(e);
        }
    }

    private void retryConnect() {
        if (!closed) {
            try {
                tryConnect();
            } catch (IOException e) {
                queuePair.failed(e);
            } catch (OutOfMemoryError e) {
                queuePair.failed(new IOException("there is no memory to ask the peer again", e));
            }
        }
    }

    private void replied(SetupFrame reply) throws IOException {
        if (reply.kind() == SetupFrame.Kind.REJECT) {
            queuePair.rejected(reply.text(), reply.privateDataBuffer());
            return;
        }
        if (reply.kind() != SetupFrame.Kind.ACCEPT) {
            throw new ShmProtocolException(EndReason.FAILED, "setup frame: kind %s (expected: ACCEPT)", reply.kind());
        }
        listener.requireFiles(parts.directory(), reply.instance());
        PeerControl peer = mapPeer(reply);
        try {
            timer.cancel();
            own.unlink(); // the peer has mapped it before it answered
        } catch (Throwable t) {
            peer.close();
            throw t;
        }
        established(peer, reply);
        ring();
    }

    // ---- Answering

    void accept(byte[] privateData) throws IOException {
        frame = request.frame();
        PeerControl peer = null;
        try {
            peer = mapPeer(frame);
            own = new OwnControl(parts.directory());
            parts.sockets().register(channel, SelectionKey.OP_READ, this);
            send(new SetupFrame(SetupFrame.Kind.ACCEPT, parts.directory().instance(), own.number(), inboundReadDepth,
                    outboundReadDepth, new byte[0], -1, "", privateData));
        } catch (Throwable t) {
            if (peer != null) {
                peer.close();
            }
            if (t instanceof IOException e) {
                SocketConnectionRequest.reject(channel, SetupFrame.rejection(e).encode());
            }
            throw t;
        }
        established(peer, frame);
    }

    // ---- Both

    private PeerControl mapPeer(SetupFrame peerFrame) throws IOException {
        Path file = parts.directory().file(peerFrame.instance(), OwnControl.KIND, peerFrame.control());
        try {
            return new PeerControl(file);
        } catch (NoSuchFileException e) {
            throw new EOFException("the peer has closed the connection before it stood: " + file + " does not exist");
        }
    }

    private void established(PeerControl peer, SetupFrame peerFrame) {
        stands = true;
        OwnControl control = own;
        own = null; // the exchange closes it
        queuePair.established(control, peer, peerFrame, Math.min(outboundReadDepth, peerFrame.inboundReadDepth()));
    }

    private void send(SetupFrame sent) throws IOException {
        ByteBuffer bytes = sent.encode();
        try {
            channel.write(bytes);
        } catch (IOException e) {
            if (request == null) {
                return; // who has ended the connection already may have said why, which is read next
            }
            throw e;
        }
        if (bytes.hasRemaining()) {
            throw new IOException("the system does not take " + bytes.limit() + " bytes on a new socket");
        }
    }

    /** Sends a byte; the peer sees that this side is ready, or has something for it. */
    void ring() {
        parts.statistics().wakeUpsSent.increment();
        try {
            channel.write(parts.signals().clear().limit(1)); // if the socket is full, there is enough to wake the peer
        } catch (IOException e) {
            // The selector finds the end of the peer.
        }
    }

    @Override
    public void ready(int readyOperations) throws IOException {
        try {
            ready();
        } catch (InternalError e) {
            throw PeerControl.truncated();
        }
    }

    private void ready() throws IOException {
        if (stands) {
            int count = readSignals();
            if (count < 0) {
                queuePair.socketEnded();
            } else if (count > 0) {
                queuePair.woken();
            }
        } else {
            SetupFrame reply = replyReader.read(channel);
            if (reply != null) {
                replied(reply);
            }
        }
    }

    /** Reads what has only woken; -1 at the end. A process that dies before it has read all leaves a reset. */
    private int readSignals() {
        try {
            return channel.read(parts.signals().clear());
        } catch (IOException e) {
            return -1;
        }
    }

    @Override
    public void failed(Exception cause) {
        if (!stands) {
            parts.directory().shared().removeDeadSoon(); // perhaps the peer has died
        }
        queuePair.failed(cause);
    }

    void close() {
        closed = true;
        if (timer != null) {
            timer.cancel();
        }
        if (retry != null) {
            retry.cancel();
        }
        if (own != null) {
            own.close();
            own = null;
        }
        if (request != null && !stands) {
            request.refuse(); // does nothing if accept() has rejected
        } else if (channel != null) {
            SocketFailures.closeQuietly(channel);
        }
    }
}
