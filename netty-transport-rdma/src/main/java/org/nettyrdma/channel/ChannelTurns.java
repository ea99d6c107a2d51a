package org.nettyrdma.channel;

/**
 * What the parts of a channel see of its life. Event loop only.
 */
interface ChannelTurns {

    ChannelState state();

    /** Asks for a turn in the loop, once for all that ask. */
    void schedule();

    /** The channel fails; the first failure is the cause of its end. */
    void fail(Throwable cause);
}
