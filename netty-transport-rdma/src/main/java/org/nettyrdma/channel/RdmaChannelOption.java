package org.nettyrdma.channel;

import io.netty.channel.ChannelOption;

/**
 * Options of {@link RdmaChannel} and {@link RdmaServerChannel} beyond those of every Netty channel. Unless said otherwise
 * an option belongs to {@link RdmaChannel} (on a server: a child option) and can be set only before the channel is
 * registered, which the bootstraps do.
 *
 * @param <T> type of the value
 */
public final class RdmaChannelOption<T> extends ChannelOption<T> {

    /**
     * Receives kept posted, in buffers; default 128, 1 to the provider's limit. A channel holds this many buffers of
     * {@link #RECEIVE_BUFFER_SIZE} also when it is idle. Must be at least the number of messages that the peer may send
     * unasked, for RPC the credits granted to it: with fewer, hardware ends connections with
     * {@code RECEIVER_NOT_READY_RETRY_EXCEEDED}, and the software provider stops reading, so that throughput drops.
     */
    public static final ChannelOption<Integer> RECEIVE_QUEUE_DEPTH = valueOf(RdmaChannelOption.class, "RECEIVE_QUEUE_DEPTH");

    /**
     * Largest message that can be received, in bytes; default 4096. A peer that sends a longer one loses the connection: it
     * sees {@code REMOTE_INVALID_REQUEST_ERROR} or a Terminate message, this side a {@code LOCAL_LENGTH_ERROR}.
     *
     * <p>Can be set at any time. Receives that are posted from then on have the new size; those that the device has already
     * keep theirs until a message has come in, for they cannot be taken back. {@link RdmaChannel#receivableBytes()} and
     * {@link ReceiveBuffersReplaced} tell what the peer may send. A channel that finds no memory for a larger size fails.
     */
    public static final ChannelOption<Integer> RECEIVE_BUFFER_SIZE = valueOf(RdmaChannelOption.class, "RECEIVE_BUFFER_SIZE");

    /**
     * Sends, RDMA Writes and RDMA Reads that can be outstanding together; default 256, 1 to the provider's limit. More are
     * kept in the channel until there is room; {@code FULL_SEND_QUEUES} among the statistics counts how often. Too small a
     * value shows as low throughput with that counter rising.
     */
    public static final ChannelOption<Integer> SEND_QUEUE_DEPTH = valueOf(RdmaChannelOption.class, "SEND_QUEUE_DEPTH");

    /**
     * RDMA Reads that the peer may have outstanding towards this side (IRD); default 16, 0 to the provider's limit, which
     * lowers it silently. 0 refuses RDMA Reads, and a Linux NFS server then refuses the connection.
     */
    public static final ChannelOption<Integer> INBOUND_READ_DEPTH = valueOf(RdmaChannelOption.class, "INBOUND_READ_DEPTH");

    /**
     * RDMA Reads that this side keeps outstanding towards the peer (ORD); default 16, 0 to the provider's limit, which
     * lowers it silently, as the peer may. Further reads wait in the provider, and what was written after them waits too:
     * too small a value shows as low read throughput on a long network path.
     */
    public static final ChannelOption<Integer> OUTBOUND_READ_DEPTH = valueOf(RdmaChannelOption.class, "OUTBOUND_READ_DEPTH");

    /**
     * Bytes sent to the peer with the connection request, or by a server with its answer; default none, at most the
     * provider's {@code Capabilities.maxPrivateDataBytes()}, else connecting fails. The array is copied when set. The peer
     * reads them with {@link RdmaChannel#peerPrivateData()}. Can be set until the channel connects, and by the handlers that
     * initialise the pipeline of an accepted channel, which answers the peer after that.
     */
    public static final ChannelOption<byte[]> PRIVATE_DATA = valueOf(RdmaChannelOption.class, "PRIVATE_DATA");

    /**
     * Whether this side asks for a checksum over everything sent; default {@code false}. On iWARP it is the CRC32C of MPA,
     * used in both directions if either side asks. It costs throughput, and the iWARP driver of Linux 6.1 ({@code siw})
     * loses connections that use it. Without effect where the device always has a checksum.
     */
    public static final ChannelOption<Boolean> CHECKSUM = valueOf(RdmaChannelOption.class, "CHECKSUM");

    /**
     * How long a closed channel waits for the device to return its buffers, in milliseconds; default 2000, at least 1.
     * When the time is over the buffers are given up, never reused, and counted as {@code BUFFERS_LEAKED_ON_PURPOSE}. Too
     * small a value shows as that counter rising.
     */
    public static final ChannelOption<Integer> CLOSE_TIMEOUT_MILLIS = valueOf(RdmaChannelOption.class, "CLOSE_TIMEOUT_MILLIS");

    /**
     * How long a peer that has connected to an {@link RdmaServerChannel} may take to send its connection request, in
     * milliseconds; default 5000, at least 1. Can be set until the channel is bound. Too small a value shows as clients
     * behind slow networks that cannot connect; too large a one lets silent peers hold sockets.
     */
    public static final ChannelOption<Integer> REQUEST_TIMEOUT_MILLIS =
            valueOf(RdmaChannelOption.class, "REQUEST_TIMEOUT_MILLIS");

    /**
     * How many peers may be connected to an {@link RdmaServerChannel} without having sent their whole connection request;
     * default 1024, at least 1. Further ones wait in the backlog until one of these has sent it, or has exceeded
     * {@link #REQUEST_TIMEOUT_MILLIS}. Can be set until the channel is bound. Too small a value shows as clients that connect
     * slowly while others are silent; with too large a one, silent peers hold as many sockets.
     */
    public static final ChannelOption<Integer> MAX_PENDING_REQUESTS =
            valueOf(RdmaChannelOption.class, "MAX_PENDING_REQUESTS");

    @SuppressWarnings({"unused", "deprecation"}) // never called: the constants live in ChannelOption's pool
    private RdmaChannelOption() {
        super(null);
    }
}
