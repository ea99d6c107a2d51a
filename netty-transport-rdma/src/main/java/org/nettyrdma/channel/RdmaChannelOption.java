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
     * Receives kept posted, in buffers; default 128, 1 to the provider's limit. Without {@link #SHARED_RECEIVES} a channel holds
     * this many buffers of {@link #RECEIVE_BUFFER_SIZE} also when it is idle. With them it is how many messages may be held back
     * while no read is wanted, and how many receives the channel counts for at first ({@link RdmaChannel#reserveReceives}). Must
     * be at least the number of messages that the peer may send without being asked; for RPC the credits granted to the peer.
     * With fewer, hardware ends connections with {@code RECEIVER_NOT_READY_RETRY_EXCEEDED}, and the software provider stops
     * reading, which lowers throughput.
     */
    public static final ChannelOption<Integer> RECEIVE_QUEUE_DEPTH = valueOf(RdmaChannelOption.class, "RECEIVE_QUEUE_DEPTH");

    /**
     * Whether the channel receives into buffers that all channels of its event loop share; default {@code true}. Without effect
     * where the provider has no shared receives, or {@link #RECEIVE_BUFFER_SIZE} is larger than 256 KiB: such a channel has
     * receives of its own. So has one for which this is {@code false}. It holds them also when it is idle, but no other channel
     * can take them away. {@link #RECEIVE_BUFFER_SIZE} can be raised later only on a channel with receives of its own.
     */
    public static final ChannelOption<Boolean> SHARED_RECEIVES = valueOf(RdmaChannelOption.class, "SHARED_RECEIVES");

    /**
     * Whether the channel gets receives that are longer than {@link #RECEIVE_BUFFER_SIZE} where its provider is faster with them
     * and there is memory; default {@code false}, which {@code RpcRdma} changes. It is decided when the channel is registered,
     * and {@link #RECEIVE_BUFFER_SIZE} tells from then on how long they are. With the providers in software they have 69632
     * bytes, room for 64 KiB of data: so much costs less in one message than in a chunk. The channels that come first get them:
     * one more does while an equal share of a sixteenth of the registered memory has room for {@link #RECEIVE_QUEUE_DEPTH} of
     * them. So channels of one depth promise no more than that sixteenth at first. Without effect without
     * {@link #SHARED_RECEIVES}, and with providers that do not say which length they prefer.
     */
    public static final ChannelOption<Boolean> LONG_RECEIVES = valueOf(RdmaChannelOption.class, "LONG_RECEIVES");

    /**
     * Largest message that can be received, in bytes; default 4096, 1 to 16 MiB. A peer that sends a longer message loses the
     * connection. The peer sees {@code REMOTE_INVALID_REQUEST_ERROR} or a Terminate message, over {@code shm} a cause in words,
     * and this side sees a {@code LOCAL_LENGTH_ERROR}.
     *
     * <p>Can be set at any time. Receives that are posted from then on have the new size. Receives that the device already has
     * cannot be taken back: they keep their size until a message has come in. {@link RdmaChannel#receivableBytes()} and
     * {@link ReceiveBuffersReplaced} tell how long messages of the peer may be. A channel that finds no memory for a larger size
     * fails.
     */
    public static final ChannelOption<Integer> RECEIVE_BUFFER_SIZE = valueOf(RdmaChannelOption.class, "RECEIVE_BUFFER_SIZE");

    /**
     * Sends, RDMA Writes and RDMA Reads that can be outstanding together; default 256, 1 to the provider's limit. Further ones
     * wait in the channel until there is room; {@code FULL_SEND_QUEUES} among the statistics counts how often. Too small a value
     * shows as low throughput with that counter rising.
     */
    public static final ChannelOption<Integer> SEND_QUEUE_DEPTH = valueOf(RdmaChannelOption.class, "SEND_QUEUE_DEPTH");

    /**
     * Most Sends, RDMA Writes and RDMA Reads together that were flushed and that the device has not completed; at least 1,
     * default {@link Integer#MAX_VALUE}: no bound. Beyond this number the channel passes on no message of the peer until half of
     * the number is left. Can be set at any time.
     *
     * <p>This option is for protocols that answer messages of the peer: it bounds the answers that this side keeps for a peer
     * that does not take them. {@code RpcRdma} sets it. Where the option is set and there are many channels, each keeps less:
     * {@link RdmaChannel#fairMessages()}. Too small a value shows as low throughput. If both sides send without being asked and
     * without credits, both may stop for ever.
     */
    public static final ChannelOption<Integer> MAX_OUTBOUND_MESSAGES = valueOf(RdmaChannelOption.class, "MAX_OUTBOUND_MESSAGES");

    /**
     * RDMA Reads that the peer may have outstanding towards this side (IRD); default 16, 0 to the provider's limit. A higher
     * value is lowered silently. 0 refuses RDMA Reads, and a Linux NFS server then refuses the connection.
     */
    public static final ChannelOption<Integer> INBOUND_READ_DEPTH = valueOf(RdmaChannelOption.class, "INBOUND_READ_DEPTH");

    /**
     * RDMA Reads that this side keeps outstanding towards the peer (ORD); default 16, 0 to the provider's limit. The provider and
     * the peer may lower the value silently. Further reads wait in the provider, and everything written after them waits, too.
     * Where it is 0, each {@link RdmaRead} fails.
     * Too small a value shows as low read throughput on a long network path.
     */
    public static final ChannelOption<Integer> OUTBOUND_READ_DEPTH = valueOf(RdmaChannelOption.class, "OUTBOUND_READ_DEPTH");

    /**
     * Bytes sent to the peer with the connection request, or by a server with its answer; default none, at most the provider's
     * {@code Capabilities.maxPrivateDataBytes()}, else connecting fails. The array is copied when set. The peer reads them with
     * {@link RdmaChannel#peerPrivateData()}. Can be set until the channel connects. The handlers that initialise the pipeline of
     * an accepted channel can set it, too: the peer is answered after that.
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
     * small a value shows as that counter rising. Over software iWARP it is also how long the peer has to take what TCP has
     * taken; what it has not taken by then is lost, and it sees a reset. A closed {@link RdmaStreamChannel} first waits for the
     * peer to close too, as long, or up to 16 times as long while the peer takes what was flushed before. The time-out with which
     * an event loop is shut down ends all of this earlier.
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
     * How many peers may be connected to an {@link RdmaServerChannel} without having sent their whole connection request; default
     * 4096, at least 1. When there is one more, the address with the most such peers loses the oldest of them. So silent peers do
     * not hold up a peer at another address. Can be set until the channel is bound. Too small a value shows as clients that lose
     * their connection before it stands, while many connect at once; with too large a one, silent peers hold as many sockets.
     */
    public static final ChannelOption<Integer> MAX_PENDING_REQUESTS =
            valueOf(RdmaChannelOption.class, "MAX_PENDING_REQUESTS");

    /**
     * How many peers at one address may be connected to an {@link RdmaServerChannel} without having sent their whole connection
     * request; default 2048, at least 1. When there is one more, the oldest of them is dropped. Other peers at the address of a
     * client may open one connection after another. The client gets through if it sends its request, which takes one round trip,
     * before that many of them have connected after it. Of IPv6 addresses the first 64 bits count, of link-local ones all. Over
     * shared memory, where all peers are of this host, only {@link #MAX_PENDING_REQUESTS} counts. Can be set until the channel is
     * bound. Too small a value shows as clients behind one address that lose connections when all connect at once.
     */
    public static final ChannelOption<Integer> MAX_PENDING_REQUESTS_PER_ADDRESS =
            valueOf(RdmaChannelOption.class, "MAX_PENDING_REQUESTS_PER_ADDRESS");

    /**
     * How many connections an {@link RdmaServerChannel} has at once; default 16384, at least 1. The request for one more is
     * rejected, and its peer sees that. A stream that is closed counts until its peer has closed too, or its time is over: it
     * holds its memory until then. Connections without {@link #SHARED_RECEIVES} hold {@link #RECEIVE_QUEUE_DEPTH} receive
     * buffers each, whether used or not, and all hold a file descriptor with the software provider. The machine must have enough
     * of both. Can be set until the channel is bound.
     */
    public static final ChannelOption<Integer> MAX_CONNECTIONS = valueOf(RdmaChannelOption.class, "MAX_CONNECTIONS");

    /**
     * How many connections an {@link RdmaServerChannel} has at once with the peers at one address; default 12288, at least 1. The
     * default is three quarters of that of {@link #MAX_CONNECTIONS}, so that one address alone cannot keep others out. The
     * request for one more is rejected. Clients that share an address share this limit. Where this limit is less than
     * {@link #MAX_CONNECTIONS}, a further rule holds: an address that has three times as many connections as are left for all
     * gets no more. So several addresses together cannot keep the others out. The same holds for the memory of receives that are
     * not shared. Of IPv6 addresses the first 64 bits count, of link-local ones all. At the path of a socket each connection has
     * an address of its own, so that only {@link #MAX_CONNECTIONS} counts. Can be set until the channel is bound.
     */
    public static final ChannelOption<Integer> MAX_CONNECTIONS_PER_ADDRESS =
            valueOf(RdmaChannelOption.class, "MAX_CONNECTIONS_PER_ADDRESS");

    @SuppressWarnings({"unused", "deprecation"}) // never called: the constants live in ChannelOption's pool
    private RdmaChannelOption() {
        super(null);
    }
}
