package org.nettyrdma.codec.oncrpc;

import static io.netty.util.internal.ObjectUtil.checkPositiveOrZero;

import java.util.List;

/**
 * How large the reply to a call can get, for transports that must offer memory for it before they send the call.
 *
 * @param maxReplyBytes    the largest reply in bytes, from its XID on, not counting the data of the items in
 *                         {@code maxDataItemBytes}
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
