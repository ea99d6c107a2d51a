package org.nettyrdma.codec.rpcrdma.connection;

import io.netty.channel.ChannelOption;
import java.util.Map;
import java.util.StringJoiner;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaChannelOption;
import org.nettyrdma.codec.rpcrdma.RpcRdmaLimits;
import org.nettyrdma.codec.rpcrdma.RpcRdmaPrivateData;
import org.nettyrdma.handler.credit.CreditGate;

/**
 * How many receives a connection needs and how large they are, and what can be promised to peers where a channel has fewer or
 * smaller ones: never is more granted or announced than what is posted.
 *
 * <p>The receives of a connection, all posted before the connection stands, and what may arrive in them:
 * <pre>{@code
 *                    at a client                          at a server
 *   credits          replies to its calls                 calls of the client
 *   reverseCredits   calls of the server                  replies of the client
 *   controlReceives  version 2: messages without a call   the same
 *   pendingReplies                                        RDMA_DONE
 *
 *   time  client                                          server
 *     |   posts all receives, connects                    posts all receives, accepts
 *     |                      <-- private data: sizes -->
 *     |   first call         --- uses 1 of credits -------->   needs no grant
 *     |                      <-- 1 of controlReceives ------   version 2: RDMA2_CONNPROP
 *     |                      <-- uses 1 of credits ---------   first reply: grants what was asked
 *     |                                                        for, at most credits
 *     |   RDMA2_CONNPROP     --- 1 of controlReceives ----->
 *     |   more calls         --- as many as are granted --->   posts a new receive for each
 *     v                      <-- as many as are in progress    message that was taken
 * }</pre>
 * So each message that a peer may send finds a receive.
 *
 * @param server          whether the peer makes the calls
 * @param limits          what was asked for
 * @param mayBeLonger     whether receives may be longer than the inline threshold that was asked for, which then grows with them
 * @param reverseCredits  calls from server to client that may be in progress at once
 * @param pendingReplies  receives for RDMA_DONE, one for each reply that the client may be fetching at once
 * @param controlReceives receives for what the peer sends without a call, 0 in version 1
 */
public record ReceivePlan(boolean server, RpcRdmaLimits limits, boolean mayBeLonger, int reverseCredits, int pendingReplies,
        int controlReceives) {

    /**
     * Receives of a connection that speaks version 2 for what the peer sends without a call. Messages without a call take no
     * credit, so nothing that waits for a credit holds them up, and they hold up nothing. RDMA2_CONNPROP is one message of each
     * side, which the draft lets it send unasked; the rest is for OPTIONAL header types that are not counted, which have to keep
     * within it on their own.
     */
    public static final int CONTROL_RECEIVES = 5;
    /** Those for header types that the credit gate bounds, where there are any: what the peer sends, and its answers. */
    public static final int BOUNDED_RECEIVES = 2 * CreditGate.MAX_CONTROLS;

    /** What a channel has to be set to, so that all that was asked for can be had. */
    public Map<ChannelOption<Integer>, Integer> options() {
        return Map.of(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, limits.credits() + besidesCredits(),
                RdmaChannelOption.RECEIVE_BUFFER_SIZE, Math.max(leastBufferBytes(), limits.inlineThresholdBytes()));
    }

    private int besidesCredits() {
        return reverseCredits + pendingReplies + controlReceives;
    }

    /** What peers may send without being told: a peer of version 2 fills its default size. */
    private int leastBufferBytes() {
        return controlReceives > 0 ? NegotiatedConnection.DEFAULT_BUFFER_BYTES : RpcRdmaPrivateData.DEFAULT_INLINE_BYTES;
    }

    /**
     * The limits, lowered to what a channel's receives can take, or with a larger inline threshold where these may be longer.
     *
     * @throws IllegalStateException if they cannot take the least that a peer may send
     */
    public RpcRdmaLimits limitsOf(RdmaChannel channel) {
        int depth = channel.config().getOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH);
        if (depth <= besidesCredits()) {
            throw new IllegalStateException("RECEIVE_QUEUE_DEPTH: " + depth + " (expected: more than the " + besidesCredits()
                    + " for the reverse direction, RDMA_DONE and messages without a call)");
        }
        int bufferBytes = channel.config().getOption(RdmaChannelOption.RECEIVE_BUFFER_SIZE);
        if (bufferBytes < leastBufferBytes()) {
            throw new IllegalStateException("RECEIVE_BUFFER_SIZE: " + bufferBytes + " (expected: at least "
                    + leastBufferBytes() + ", the inline threshold that every peer may use)");
        }
        int credits = Math.min(depth - besidesCredits(), limits.credits());
        int most = mayBeLonger && channel.config().isLongReceives() ? RpcRdmaLimits.MAX_INLINE_THRESHOLD_BYTES
                : limits.inlineThresholdBytes();
        int thresholdBytes = Math.min(bufferBytes / 1024 * 1024, most);
        if (credits == limits.credits() && thresholdBytes == limits.inlineThresholdBytes()) {
            return limits;
        }
        return limits.withCredits(credits).withInlineThresholdBytes(thresholdBytes);
    }

    /**
     * Says what was asked for, and is not to be had, since a channel has fewer or smaller receives than {@link #options()}.
     *
     * @param own the result of {@link #limitsOf}
     * @return empty if all is to be had
     */
    public String shortfall(RpcRdmaLimits own) {
        StringJoiner missing = new StringJoiner(", ");
        if (own.credits() < limits.credits()) {
            missing.add("credits: " + own.credits() + " instead of " + limits.credits() + " (RECEIVE_QUEUE_DEPTH)");
        }
        if (own.inlineThresholdBytes() < limits.inlineThresholdBytes()) {
            missing.add("inlineThresholdBytes: " + own.inlineThresholdBytes() + " instead of " + limits.inlineThresholdBytes()
                    + " (RECEIVE_BUFFER_SIZE)");
        }
        return missing.toString();
    }

    /**
     * Receives for all that the peer may send but its calls.
     *
     * @param own the result of {@link #limitsOf}
     */
    public int besidesServed(RpcRdmaLimits own) {
        return server ? besidesCredits() : own.credits() + pendingReplies + controlReceives;
    }
}
