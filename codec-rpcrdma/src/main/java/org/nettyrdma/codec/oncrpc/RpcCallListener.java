package org.nettyrdma.codec.oncrpc;

import io.netty.channel.ChannelPipeline;

/**
 * Is told of each RPC call when it begins and when it has ended, and how long it took. {@link RpcCallMetrics} is one.
 *
 * <p><b>Times.</b> What a connection reads at once, in one batch, counts as there when the batch began, or when the last call of
 * the batch before it was answered. So a reply that waits behind others of its batch has no wait in its duration.
 *
 * <p><b>Threads.</b> The event loop of the connection calls it, so several at once may. It must not block. What it throws is
 * logged, and changes nothing for the call.
 */
@FunctionalInterface
public interface RpcCallListener {

    /** Which end of a connection tells of a call. */
    enum Side {
        /** The end that made the call. */
        CLIENT,
        /** The end that has served the call. */
        SERVER
    }

    /** How a call ended. */
    enum Outcome {
        /** Its reply has results. */
        SUCCESS,
        /** Its reply has an error of RFC 5531: the server, or its program, refused the call or failed. */
        ERROR,
        /** It was not sent, or its reply could not be delivered, while the connection stood; client only. */
        FAILED,
        /** It timed out or was cancelled before its reply came; client only. */
        ABANDONED,
        /** The connection ended before the reply was there. */
        LOST
    }

    /**
     * A call has begun, and has not been told of as {@linkplain #ended ended}, which follows once. Does nothing unless it is
     * overridden.
     *
     * @param side which end this is
     */
    default void begun(Side side) {
    }

    /**
     * A call has ended.
     *
     * @param side          which end this is
     * @param program       number of the program, unsigned; at a server what the peer has asked for, served or not
     * @param version       version of the program, unsigned
     * @param procedure     number of the procedure, unsigned
     * @param outcome       how it ended
     * @param elapsedNanos  at a client from when the call was written until its reply was there, with all waiting in between; at
     *                      a server from when the whole call was there until its reply was written
     */
    void ended(Side side, int program, int version, int procedure, Outcome outcome, long elapsedNanos);

    /**
     * A call has ended: the same with more figures. It passes on what the other method takes, unless it is overridden.
     *
     * @param side          which end this is
     * @param program       number of the program, unsigned
     * @param version       version of the program, unsigned
     * @param procedure     number of the procedure, unsigned
     * @param outcome       how it ended
     * @param elapsedNanos  how long it took
     * @param queuedNanos   of that, how long until the transport had taken the call, which is the wait for credits, for memory
     *                      and for room in the send queue; the whole if it never took it; 0 at a server
     * @param callBytes     length of the call with its header, chunks included
     * @param replyBytes    length of the reply with its header, chunks included; 0 if there was none
     */
    default void ended(Side side, int program, int version, int procedure, Outcome outcome, long elapsedNanos, long queuedNanos,
                       long callBytes, long replyBytes) {
        ended(side, program, version, procedure, outcome, elapsedNanos);
    }

    /**
     * Has {@link RpcClient} and {@link RpcServerHandler} tell of the calls of one connection, in both directions. To be called
     * before they are added. For RPC-over-RDMA {@code RpcRdmaBuilder.callListener} does that.
     *
     * @param pipeline of the connection
     * @param listener who is told; {@code null} for nobody: then nothing is measured either, unless a flight recording that wants
     *                 calls is under way
     */
    static void addTo(ChannelPipeline pipeline, RpcCallListener listener) {
        if (listener != null || RpcCallEvent.isWanted()) {
            RpcCallTimer.watch(pipeline.channel(), listener, System::nanoTime);
        }
    }
}
