package org.nettyrdma.handler.credit;

import io.netty.util.ReferenceCounted;

/**
 * The view that {@link CreditGate} has of the messages of a codec.
 *
 * <p>A message does not tell whether a request goes in the forward or the reverse direction of RFC 8167. At one end of a
 * connection, requests sent and responses received belong to one direction; requests received and responses sent belong to the
 * other one. So the role, and whether a message comes or goes, already select the credits that it counts for.
 */
public interface CreditedMessage extends ReferenceCounted {

    /** What a message is, from the point of view of its sender. */
    enum Role {
        /** Takes a credit that the receiver has granted. Its credit value is how many the sender would like to have. */
        REQUEST,
        /** Gives the credit of its request back; its credit value is how many the sender grants. */
        RESPONSE,
        /**
         * Follows a response that {@link #keepsCredit()}, comes from the end that sent the request, and takes over the credit
         * of that request. It has no response: its credit comes back with the response to any request sent after it.
         */
        NOTICE,
        /**
         * Is no request and no response, and uses a receive that the peer keeps for such messages. A limit holds for messages
         * that are not known to have arrived; see {@link CreditGate}. It is not stamped.
         */
        CONTROL,
        /** Is not counted and not stamped. */
        NEITHER
    }

    /**
     * What this message is.
     *
     * @return the role, constant
     */
    Role role();

    /**
     * Whether this is a response whose request keeps its credit, because a {@link Role#NOTICE} with the same number is going to
     * use it. Asked of received messages only.
     *
     * @return {@code true} if so, constant; {@code false} unless overridden
     */
    default boolean keepsCredit() {
        return false;
    }

    /**
     * Whether this is a {@link Role#CONTROL} message that answers the one with the same number, which came from the other end.
     *
     * @return {@code true} if so, constant; {@code false} unless overridden
     */
    default boolean isAnswer() {
        return false;
    }

    /**
     * Whether the credit value of this response counts. If not, it gives the credit of its request back, and the limit stays what
     * it was.
     *
     * @return {@code false} if the value is to be ignored, constant; {@code true} unless overridden
     */
    default boolean grantsCredits() {
        return true;
    }

    /**
     * The number that ties a response to its request. It is unique among the requests in progress that one end of a
     * connection has sent.
     *
     * @return the number, constant; any value if the role is {@link Role#NEITHER}
     */
    int xid();

    /**
     * The credit value that this message carries on the wire.
     *
     * @return an unsigned 32-bit number, not checked in any way
     */
    long credits();

    /**
     * The same message with another credit value. The content is shared; this message's reference passes to the one returned,
     * which may be this message itself.
     *
     * @param credits the value to carry, 1 or more
     * @return the message to use from now on
     */
    CreditedMessage withCredits(int credits);
}
