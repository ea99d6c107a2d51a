package org.nettyrdma.channel;

import io.netty.channel.ChannelPipeline;
import java.io.IOException;

/**
 * The receives of one channel, whether they are its own ({@link ReceiveQueue}) or those of its event loop
 * ({@link SharedReceives}), and the messages that have arrived in them and were not passed on. Event loop only.
 */
interface Receives {

    /** Makes room for as many messages as may come. */
    void repost() throws IOException;

    boolean hasMessage();

    /** Messages that nobody has taken. */
    int held();

    /**
     * Passes the oldest message on, behind the event that says what it has invalidated. Its reader index is 0.
     *
     * @return its length in bytes
     */
    int passOn(ChannelPipeline pipeline);

    /** Drops the messages that nobody has taken. */
    void releaseMessages();

    /** Buffers that the device has for this channel alone. */
    int posted();

    /** Drops the device's references: it has lost all access to the buffers. */
    void releasePosted();

    /** The channel is over. Nothing is posted for it any more, and nothing is held. */
    void close();

    /** Another size has been set for the buffers that are posted from now on. */
    void resize();

    /** The longest message that can be received now and from now on, unless another size is set. */
    int receivableBytes();

    /** Whether no smaller buffer is left since the last {@link #resize}, and {@link #replacementTold} was not called yet. */
    boolean isReplaced();

    void replacementTold();

    /** How many messages as long as a buffer the channel may have in memory besides. */
    int fairMessages();

    /**
     * Keeps receives for messages of the peer, until it is called again.
     *
     * @param wanted  so many would do
     * @param besides so many more whatever is left
     * @return 1 to {@code wanted}
     */
    int reserve(int wanted, int besides);
}
