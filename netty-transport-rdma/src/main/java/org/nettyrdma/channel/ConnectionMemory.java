package org.nettyrdma.channel;

import org.nettyrdma.peer.PeerAddress;

/**
 * Divides the registered memory of a provider between its channels. Their receives together take no more than half of it, so that
 * what is sent, and what is transferred in large pieces, finds memory however many connections there are. A sixteenth is for
 * messages that a peer has not taken yet, in equal shares: the more channels, the less of it each may fill before its peer is not
 * listened to. Where peers ask for connections, the last of what is for receives is kept for addresses that have little: one
 * address alone gets three quarters of it.
 *
 * <p>Safe for use from any thread.
 */
final class ConnectionMemory {

    /** A channel may have so many messages under way, however many channels there are. */
    static final int FEWEST_MESSAGES = 16;

    private static final int RECEIVES_PART = 2;
    private static final int MESSAGES_PART = 16;

    private final long maxBytes;
    // Guarded by this:
    private volatile long receiveBytes;
    private int channels;
    private final AddressSums receiveBytesByAddress = new AddressSums();
    /** For messages under way of each channel. */
    private volatile long shareBytes;

    /**
     * @param maxBytes all registered memory
     */
    ConnectionMemory(long maxBytes) {
        this.maxBytes = maxBytes;
        shareBytes = maxBytes / MESSAGES_PART;
    }

    /**
     * One more channel, with receives of so many bytes, unless these are too many; then {@link #close} has to follow.
     *
     * @param peer whose address has a share only, {@code null} without
     */
    synchronized void open(PeerAddress peer, long bytes) throws RdmaException {
        long left = maxBytes / RECEIVES_PART - receiveBytes;
        if (bytes > left) {
            throw new RdmaException("no registered memory left for receive buffers of " + bytes + " bytes: those of " + channels
                    + " other channels have " + receiveBytes + " (limit: " + maxBytes / RECEIVES_PART + ", half of "
                    + "org.nettyrdma.maxRegisteredBytes)");
        }
        long ofAddress = receiveBytesByAddress.of(peer);
        if (peer != null && ofAddress >= ConnectionCounts.SHARE_OF_REST * left) {
            throw new RdmaException("no registered memory left for receive buffers of " + peer + ": its other channels have "
                    + ofAddress + " bytes, and the last " + left + " (limit: " + maxBytes / RECEIVES_PART + ", half of "
                    + "org.nettyrdma.maxRegisteredBytes) are for addresses that have less");
        }
        resize(peer, bytes);
        channels++;
        divide();
    }

    /** One more channel, whose receives are not its own; then {@link #leave} has to follow. */
    synchronized void join() {
        channels++;
        divide();
    }

    /** A channel without receives of its own has ended. */
    synchronized void leave() {
        channels--;
        divide();
    }

    /**
     * Takes memory for receives that several channels share.
     *
     * @param receives so many are wanted
     * @param bytes    the size of each
     * @return so many there are; {@link #giveBack} has to follow
     */
    synchronized int take(int receives, int bytes) {
        int taken = (int) Math.min(receives, roomFor(bytes));
        receiveBytes += (long) taken * bytes;
        return taken;
    }

    /** How many receives of this size {@link #take} would give; another loop may take them first. */
    long roomFor(int bytes) {
        return Math.max(0, maxBytes / RECEIVES_PART - receiveBytes) / bytes;
    }

    /** Shared receives are fewer by so many bytes. */
    synchronized void giveBack(long bytes) {
        receiveBytes -= bytes;
    }

    /** Visible for tests: what receives take. */
    long receiveBytes() {
        return receiveBytes;
    }

    /** All registered memory. */
    long maxBytes() {
        return maxBytes;
    }

    /** The receives of a channel take so many bytes more from now on, or less if negative, whether or not there is room. */
    synchronized void resize(PeerAddress peer, long change) {
        if (peer != null) {
            receiveBytesByAddress.add(peer, change); // first, as there may be no memory for it
        }
        receiveBytes += change;
    }

    /** A channel has ended. */
    synchronized void close(PeerAddress peer, long bytes) {
        resize(peer, -bytes);
        channels--;
        divide();
    }

    private void divide() {
        shareBytes = maxBytes / MESSAGES_PART / Math.max(1, channels);
    }

    /**
     * How many messages a channel may have received without reading them.
     *
     * @param bytes the size of each
     * @return 1 or more
     */
    int mostHeld(int bytes) {
        return Math.max(1, mostHeldByEach(bytes));
    }

    /**
     * How many messages each of the channels that there are could have received without reading them. While that is no less than
     * the depth of the channels that have receives of this size, which is the same for all, they promise no more together than
     * all messages may take.
     *
     * @param bytes the size of each
     * @return 0 or more
     */
    int mostHeldByEach(int bytes) {
        return (int) Math.min(Integer.MAX_VALUE, shareBytes / bytes);
    }

    /**
     * How many messages a channel may have under way.
     *
     * @param bytes the size of each
     * @return {@value #FEWEST_MESSAGES} or more
     */
    int shareOf(int bytes) {
        return (int) Math.max(FEWEST_MESSAGES, Math.min(Integer.MAX_VALUE, shareBytes / bytes));
    }
}
