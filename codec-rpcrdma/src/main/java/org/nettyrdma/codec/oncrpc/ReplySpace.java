package org.nettyrdma.codec.oncrpc;

import static io.netty.util.internal.ObjectUtil.checkPositiveOrZero;

import java.util.List;

/**
 * How large the reply to a call can get, for transports that must offer memory for the reply before they send the call.
 *
 * <h2>Calls with one, and without</h2>
 * Over RDMA a reply that does not fit into one Send, 4096 bytes or what was agreed on, is written into memory that
 * the call has offered to the server. A call that says that its reply fits into a Send offers no memory: nothing is exposed and
 * nothing withdrawn. A call that says nothing, and whose program has no {@code UpperLayerBinding}, may get any reply. It offers
 * room for the longest message ({@code RpcRdmaLimits.maxMessageBytes}, 1 MiB + 64 KiB by default). That is one piece of memory
 * for each call. A small reply travels in a Send nevertheless.
 *
 * <p>While many such calls are in progress, there may not be as much memory for each ({@code ResourceLimits}). Then earlier
 * replies of the procedure on this connection, to calls of the same order of magnitude, decide:
 * <ul>
 * <li>Some replies were large: calls wait.
 * <li>All replies were small, and there were eight or more: the first few calls offer room for the longest message. The other
 * calls do not wait. They offer the memory that is left, at most 64 KiB or four times the longest reply, whichever is more.
 * </ul>
 * A reply may then be larger than all earlier ones, and not fit. In version 1 such a call fails after the server has carried it
 * out. In version 2 the call is sent again once, and a server that does not recognise its XID carries it out twice. Where this
 * must not happen, say how large replies can get.
 *
 * @param maxReplyBytes    the largest reply in bytes, from its XID on, not counting the data of the items in
 *                         {@code maxDataItemBytes}; results have 24 bytes in front of them where the server's verifier is empty
 * @param maxDataItemBytes the largest length in bytes of each item of bulk data in the results that may be placed directly,
 *                         without padding, in the order in which the results carry them
 */
public record ReplySpace(int maxReplyBytes, List<Integer> maxDataItemBytes) {

    /**
     * Creates a description.
     *
     * @param maxReplyBytes    the largest reply in bytes, without its bulk data
     * @param maxDataItemBytes the largest length in bytes of each item of bulk data, copied
     * @throws IllegalArgumentException if a size is negative
     */
    public ReplySpace {
        checkPositiveOrZero(maxReplyBytes, "maxReplyBytes");
        maxDataItemBytes = List.copyOf(maxDataItemBytes);
        maxDataItemBytes.forEach(bytes -> checkPositiveOrZero(bytes, "maxDataItemBytes"));
    }

    /**
     * Describes a reply without bulk data.
     *
     * @param maxReplyBytes the largest reply in bytes, from its XID on
     * @throws IllegalArgumentException if it is negative
     */
    public ReplySpace(int maxReplyBytes) {
        this(maxReplyBytes, List.of());
    }
}
